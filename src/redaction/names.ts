import { isDigit, wordSet } from './characters.js';

/**
 * Whether a key names a secret: `client_secret`, `X-Api-Key`, `Set-Cookie` … (FORMAT.md, 7). Neither case nor separators count.
 *
 * The last words decide, after words that only say which one is meant (`PASSWORD_OLD`, `api_key_2`). Counts of tokens
 * and page tokens (`max_tokens`, `nextPageToken`) are no secrets, nor are keys that sort, cache or identify.
 */
export function isSecretName(name: string): boolean {
  if (name.length < SHORTEST_NAME) return false;
  // The end decides, and a key can be as long as a payload.
  const words = wordsOf(name.slice(-LONGEST_NAME));
  while (words.length > 1 && QUALIFIERS.has(words.at(-1) ?? '')) words.pop();
  const last = (words.at(-1) ?? '').replace(/\d{1,4}$/, '');
  const before = words.at(-2) ?? '';
  const joined = words.slice(0, -1).join('') + last;
  if (last === 'token') return !UNITS_OF_TEXT.has(before);
  if (last.endsWith('token')) return !UNITS_IN_ONE_WORD.has(last);
  if (joined === 'auth') return name.startsWith('_');
  if (ASKING.has(words[0] ?? '')) return false;
  if (last === 'pass') return ACCOUNTS.has(before);
  if (NO_SECRETS.has(joined) || last === 'syncookies') return false;
  const singular = joined.endsWith('s') && !joined.endsWith('pass') ? joined.slice(0, -1) : joined;
  return ENDINGS.some((ending) => singular.endsWith(ending));
}

const SHORTEST_NAME = 5; // `token`
const LONGEST_NAME = 100;

const ENDINGS = (
  'password passwd pwd passphrase passcode secret credential authorization cookie apikey privatekey secretkey accesskey ' +
  'accountkey sharedkey authkey signingkey encryptionkey masterkey hmackey subscriptionkey secretkeybase recoveryphrase ' +
  // Of tokens in the plural only those that let somebody in: the rest are counts.
  'seedphrase accesstoken refreshtoken authtoken apitoken bearertoken'
).split(' ');

const QUALIFIERS = wordSet(
  'old new current previous confirm confirmation value prod production dev staging test live plain plaintext',
);

// The working directory, and a rule of sudo.
const NO_SECRETS = wordSet('pwd oldpwd nopasswd nopassword');

// `_pass` is also what a test or a compiler does; after these it is what somebody types.
const ACCOUNTS = wordSet('db database smtp mail email mysql pg postgres redis ftp ssh sudo admin root user');

// `has_password`, `INVALID_CREDENTIALS`: what follows tells about a secret and is none.
const ASKING = wordSet(
  'has is no show hide forgot requires require required needs enable disable allow missing invalid wrong without',
);

const UNITS_OF_TEXT = wordSet(
  'next page continuation sync cursor per each max min total eos bos pad unk sep cls mask special stop start end ' +
    'first last prev previous peek lookahead unexpected expected syntax cancellation cancel input output prompt ' +
    'completion cached reasoning',
);
const UNITS_IN_ONE_WORD = wordSet(
  'nexttoken pagetoken nextpagetoken continuationtoken maxtoken mintoken totaltoken eostoken bostoken padtoken',
);

const isUpper = (code: number): boolean => code >= 65 && code <= 90;
const isLower = (code: number): boolean => code >= 97 && code <= 122;

function wordsOf(name: string): string[] {
  const words: string[] = [];
  let start = 0;
  const cut = (end: number) => {
    if (end > start) words.push(name.slice(start, end).toLowerCase());
  };
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (!isUpper(code) && !isLower(code) && !isDigit(code)) {
      cut(at);
      start = at + 1;
    } else if (at > start && isUpper(code)) {
      const afterSmall = !isUpper(name.charCodeAt(at - 1));
      if (afterSmall || isLower(name.charCodeAt(at + 1))) {
        cut(at);
        start = at;
      }
    }
  }
  cut(name.length);
  return words;
}
