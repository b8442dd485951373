import { describe, expect, test } from 'vitest';
import { redactJson, redactText } from '../../src/redaction/redaction.js';

// Samples are put together here, so that nothing in the repository has the form of a secret.
const RANDOM = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY0zC';
const random = (length: number) => RANDOM.repeat(Math.ceil(length / RANDOM.length)).slice(0, length);
const hex = (length: number) => '0f1e2d3c4b5a6978'.repeat(8).slice(0, length);
const capitals = (length: number) => 'Q7ZK2MX9PB4TW8RV'.repeat(2).slice(0, length);
const of = (...parts: string[]) => parts.join('');

const JWT = of('ey', 'J', random(17), '.', 'ey', 'J', random(30), '.', random(43));
const BODY = `${random(64)}\n${random(64)}\n${random(20)}==`;
const pem = (label: string, body = BODY) =>
  `${of('-----', 'BEGIN ', label)}-----\n${body}\n${of('-----', 'END ', label)}-----`;

/** A text with its secret between braces of two, and what it is shown as. */
function marked(sample: string): { text: string; shown: string } {
  return { text: sample.replaceAll(/«|»/g, ''), shown: sample.replaceAll(/«[^»]*»/g, '[REDACTED]') };
}

describe('redactText hides', () => {
  const rows: readonly (readonly [kind: string, sample: string])[] = [
    ['password=', 'password=«hunter2»'],
    ['passwd:', 'passwd: «hunter2»'],
    ['a passphrase of several words in quotes', 'passphrase = "«correct horse battery»"'],
    ['secret', 'secret=«s3cr3t» next'],
    ['client_secret', 'client_secret: «abc-def»'],
    ['clientSecret', "clientSecret: '«abc def»',"],
    ['credential', 'credential=«abc»'],
    ['credentials', 'credentials: «abc»'],
    ['api key, two words', 'API key: «abc123»'],
    ['apikey', 'apikey=«abc123»'],
    ['api_key', 'api_key = «abc123»'],
    ['apiKey in an object', 'const o = { apiKey: "«abc123»", n: 1 }'],
    ['OPENAI_API_KEY in the environment', 'export OPENAI_API_KEY=«abc123»'],
    ['x-api-key header', 'x-api-key: «abc123»\nHost: a'],
    ['X-Api-Key in quotes', `curl -H "X-Api-Key: «abc 123»" https://a.example`],
    ['private key by name', 'privateKey=«abc123»'],
    ['access_token', 'access_token=«abc123»'],
    ['refresh token', 'refresh_token: «abc123»'],
    ['id_token', '"id_token":"«abc123»"'],
    ['githubToken', 'githubToken = "«abc123»"'],
    ['bare token', 'token: «abc123»'],
    ['_authToken of npm', '//registry.example/:_authToken=«abc123»'],
    ['Authorization header', `Authorization: «Bearer ${random(12)}»\r\nAccept: */*`],
    ['Proxy-Authorization header', 'Proxy-Authorization: «Basic abc=»'],
    ['lower-case header in quotes', `-H 'authorization: «token abc»' -X POST`],
    ['header in an object', `{ Authorization: "«Bearer abcd»", Accept: "*/*" }`],
    ['Cookie header to the end of the line', '> Cookie: «sid=abc; theme=dark»\n> Host: a'],
    ['Set-Cookie header', 'Set-Cookie: «sid=abc; Path=/; HttpOnly»\nX: 1'],
    ['header in a text that quotes line ends', String.raw`"GET / HTTP/1.1\r\nAuthorization: «Bearer abc»\r\nHost: a"`],
    ['upper case', 'DB_PASSWORD=«hunter2»'],
    ['kebab case', 'db-password: «hunter2»'],
    ['a qualifier behind the name', 'API_KEY_PROD=«abc» PASSWORD_2=«def»'],
    ['dotted property', 'spring.datasource.password=«hunter2»'],
    ['subscript', `config["password"] = "«hunter2»"`],
    ['arrow of PHP and Ruby', "'password' => '«hunter2»'"],
    ['walrus of Go', 'password := "«hunter2»"'],
    ['annotated with a default', 'password: str = "«hunter2»"'],
    ['comparison with a literal', 'if (password === "«hunter2»") {'],
    ['number', 'password: «12345678»'],
    ['number in a piece of JSON', '{"password": «12345678», "a": 1'],
    ['piece of JSON', 'got {"user":"bob","password":"«hun\\"ter2»","n":1} there'],
    ['escaped piece of JSON', String.raw`"{\"password\":\"«hunter2»\",\"n\":1"`],
    ['twice escaped piece of JSON', String.raw`\\\"password\\\": \\\"«hunter2»\\\", \\\"n\\\"`],
    ['value whose end was cut off', '{"a":1,"password":"«hunt»'],
    ['connection string', 'Server=a;User Id=sa;Password=«abc»;Database=b'],
    ['Pwd of a driver', 'Uid=sa;Pwd=«abc»;'],
    ['Azure AccountKey', of('AccountName=a;Account', 'Key=«', random(40), '==»;EndpointSuffix=b')],
    ['AWS secret access key', of('aws_secret_access_key = «', random(40), '»')],
    ['mark inside a password', 'PASSWORD=«ab,cd;ef&gh» npm start'],
    ['flag with a space', 'login --user bob --password «hunter2» --quiet'],
    ['flag with an equals sign', 'login --password=«hunter2» x'],
    ['XML element', '<user>a</user><password>«hunter2»</password>'],
    ['query of a URL', 'https://a.example/p?access_token=«abc»&page=2#top'],
    ['second in a query', 'https://a.example/p?page=2&api_key=«abc»'],
    ['signature in a query', 'https://a.example/p?se=1&sig=«abc%2B»&sp=r'],
    ['scheme and token as a value', 'AUTHORIZATION=«Bearer abc.def» next'],
    ['passphrase of several words', 'passphrase: «correct horse battery staple»'],
    ['letters alone behind Bearer', `Bearer «${'abcdefghijklmnopqrst'}».`],
    ['form', "-d 'user=bob&password=«hunter2»&n=1'"],
    ['https password', 'https://bob:«hunter2»@a.example/p'],
    ['wss password', 'wss://bob:«hunter2»@a.example'],
    ['ftp password', 'ftp://bob:«hunter2»@a.example'],
    ['postgres password', 'postgres://bob:«hunter2»@db:5432/app'],
    ['postgres password with marks', 'postgres://bob:«h/un#t?2»@db:5432/app'],
    ['postgres password with an @', 'postgres://bob:«p@ss»@db:5432/app'],
    ['mongodb password', 'mongodb+srv://bob:«hunter2»@a.example/?w=1'],
    ['redis password without user', 'redis://:«hunter2»@cache:6379/0'],
    ['amqp password', 'amqp://bob:«hunter2»@mq'],
    ['curl -u', 'curl -u bob:«hunter2» https://a.example'],
    ['curl --user in quotes', 'curl -s --user "bob:«hunter 2»" https://a.example'],
    ['curl over two lines', 'curl -s \\\n  -u bob:«hunter2» https://a.example'],
    ['PEM private key', `a\n«${pem('PRIVATE KEY')}»\nb`],
    ['RSA private key', `«${pem('RSA PRIVATE KEY')}»`],
    ['OpenSSH private key', `«${pem('OPENSSH PRIVATE KEY')}»`],
    ['encrypted private key', `«${pem('RSA PRIVATE KEY', `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\n${BODY}`)}»`],
    ['PEM with escaped line ends', `x "«${pem('EC PRIVATE KEY').replaceAll('\n', '\\n')}»" y`],
    ['PEM cut off', `«${of('-----', 'BEGIN PRIVATE', ' KEY-----')}\n${random(64)}\n${random(30)}»`],
    ['PEM cut off, escaped', `«${of('-----', 'BEGIN PRIVATE', ' KEY-----')}\\n${random(64)}\\n${random(30)}»`],
    ['PGP private block', `«${pem('PGP PRIVATE KEY BLOCK', `Version: 1\n\n${BODY}`)}»`],
    ['OpenAI', `a «${of('sk', '-', random(48))}» b`],
    ['OpenAI project', `a «${of('sk', '-proj-', random(30), '_', random(20))}»`],
    ['Anthropic', `a «${of('sk', '-ant-', 'api03-', random(40), '-', random(20))}»`],
    ['GitHub personal', `«${of('gh', 'p_', random(36))}»`],
    ['GitHub OAuth', `«${of('gh', 'o_', random(36))}»`],
    ['GitHub user', `«${of('gh', 'u_', random(36))}»`],
    ['GitHub server', `«${of('gh', 's_', random(36))}»`],
    ['GitHub refresh', `«${of('gh', 'r_', random(36))}»`],
    ['GitHub fine-grained', `«${of('github', '_pat_', random(22), '_', random(59))}»`],
    ['GitLab', `«${of('gl', 'pat-', random(20))}»`],
    ['Google', `key «${of('AI', 'za', random(35))}»`],
    ['Slack bot', `«${of('xo', 'xb-', '1234567890-', random(24))}»`],
    ['Slack user', `«${of('xo', 'xp-', '1234567890-', random(24))}»`],
    ['Slack app', `«${of('xa', 'pp-', '1-A012-', random(24))}»`],
    ['Slack webhook', of('https://hooks.slack', '.com/services/', '«T0123/B0123/', random(24), '»')],
    ['AWS key id', `id «${of('AK', 'IA', capitals(16))}».`],
    ['AWS temporary key id', `«${of('AS', 'IA', capitals(16))}»`],
    ['JWT', `a «${JWT}» b`],
    ['JWT cut off', `a «${JWT.slice(0, 60)}»`],
    ['Stripe secret', `«${of('sk', '_live_', random(24))}»`],
    ['Stripe restricted', `«${of('rk', '_live_', random(24))}»`],
    ['Stripe webhook', `«${of('wh', 'sec_', random(32))}»`],
    ['npm', `«${of('np', 'm_', random(36))}»`],
    ['PyPI', `«${of('py', 'pi-', random(80))}»`],
    ['Hugging Face', `«${of('h', 'f_', random(34))}»`],
    ['SendGrid', `«${of('S', 'G.', random(22), '.', random(43))}»`],
    ['DigitalOcean', `«${of('do', 'p_v1_', hex(64))}»`],
    ['Bearer in prose', `send Bearer «${random(24)}» along`],
    ['Basic in prose', `send Basic «${of('Ym9i', 'Omh1bnRlcjI=')}» along`],
    ['token behind a written line end', String.raw`a\n«${of('gh', 'p_', random(36))}»`],
    ['token behind a written space', `a%20«${of('gh', 'p_', random(36))}»`],
    ['token in colour', `\u001b[33m«${of('gh', 'p_', random(36))}»\u001b[0m`],
    ['token whose prefix is escaped', `a «${of('sk', '\\u002d', 'ant', '\\u002d', random(30))}» b`],
    ['JSON inside a line', `{"a":"{\\"password\\":\\"«hunter2»\\"}"}`],
    ['characters beyond ASCII', 'password=«пароль日本» x'],
  ];

  test.each(rows)('51. %s', (_kind, sample) => {
    const { text, shown } = marked(sample);

    expect(redactText(text)).toBe(shown);
  });

  test('51. at least 33 kinds', () => {
    expect(new Set(rows.map(([kind]) => kind)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(33);
  });
});

describe('redactText keeps', () => {
  const rows: readonly (readonly [kind: string, text: string])[] = [
    ['max_tokens', 'max_tokens: 4096, "max_tokens": 4096, max_tokens=4096'],
    ['token_count', 'token_count: 12'],
    ['totalTokens', '{"totalTokens": 12'],
    ['promptTokens', 'promptTokens=12'],
    ['tokens', '"tokens": 12, tokens: 13'],
    ['cachedInputTokens', 'cachedInputTokens: 99'],
    ['next page token', 'nextPageToken: abc123'],
    ['tokens of a vocabulary', 'eos_token: </s>, pad_token = "<pad>", "bos_token": "<s>"'],
    ['an unexpected token', 'SyntaxError: Unexpected token: string (foo)'],
    ['primary_key', 'primary_key: id'],
    ['public_key', 'public_key=abc123'],
    ['publicKey', '"publicKey": "abc123"'],
    ['cache_key', 'cache_key: abc123'],
    ['sort_key', 'sort_key = name'],
    ['foreign_key', 'foreign_key: user_id'],
    ['key', 'key: value, key=value, "key": "value"'],
    ['key id', 'api_key_id=12, accessKeyId: 13'],
    ['keyboard', 'keyboard: qwerty'],
    ['monkey', 'monkey=banana'],
    ['tokenizer', 'tokenizer: cl100k_base'],
    ['md5', `md5: ${hex(32)}`],
    ['sha1', `sha1=${hex(40)}`],
    ['sha256', `sha256:${hex(64)}`],
    ['git commit', `commit ${hex(40)}`],
    ['integrity of a package', `"integrity": "sha512-${random(86)}=="`],
    ['uuid', 'id: 123e4567-e89b-12d3-a456-426614174000'],
    ['ULID', 'id: 01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['place in a file', 'src/file.ts:12: const a = 1'],
    ['place in a file named for a secret', 'src/password.ts:12:4 error, lib/token:12: x'],
    ['sk-learn-pipeline', 'sk-learn-pipeline sk-learn-pipeline-with-many-long-words'],
    ['classes of scikit-learn', 'sk-toggleable__label-arrow sk-estimator-doc-link'],
    ['sk- inside a word', `task-sk-${random(30)} risk-sk-${random(30)}`],
    ['base64 image', `data:image/png;base64,${random(80)}`],
    ['URL without password', 'https://a.example:8080/p?q=1 https://bob@a.example/ https://a.example/@scope/x'],
    ['port and a later @', 'http://localhost:3000/@fs/a http://localhost:3000?to=a@b'],
    ['user@host', 'bob@a.example'],
    ['ssh remote', 'ssh git@github.com:a/b ssh://git@a.example:22/b'],
    ['docker -u', 'docker run -u 1000:1000 image'],
    ['passwordless', 'passwordless: true, a passwordless login'],
    ['prose on passwords', 'The password policy says: change it. Your password must be long.'],
    ['rule on passwords', 'password: must be at least 8 characters'],
    ['password_policy', 'password_policy: strict, passwordMinLength=8'],
    ['secretary', 'secretary: Alice'],
    ['prose on cookies', 'cookies are small, a cookie is one'],
    ['author', 'author: x'],
    ['authorization_url', 'authorization_url: https://a.example/auth'],
    ['types of TypeScript', 'token: number; token: string; password: string, secret?: string | undefined'],
    ['types of others', 'password: str, token: Optional[str] = None, let t: { password: &str }'],
    ['calls', 'token = getToken(); const password = await ask(); secret: crypto.randomBytes(32)'],
    ['environment of Node', 'password = process.env.PASSWORD'],
    ['environment of Python', 'password = os.environ["PASSWORD"]; token = os.environ.get("T")'],
    ['fields', 'password: user.password, apiKey: config.apiKey, token = this.token'],
    ['kinds of a parser', 'OpenToken = 65, { messageToken: 0 }'],
    ['classes', 'read(token: CancellationToken): void; token = CancellationToken.None'],
    ['types of keys', 'sign(privateKey: KeyLike | SignKey, password: BinaryLike, cookie: CookieJar): void'],
    ['comparisons', 'if (token === SyntaxKind.Identifier || password == other) {'],
    ['functions', 'options.onToken = function (token) {}; secret = async (a) => {}'],
    ['statements', 'token = last; this.token = this.#next; exports.Token = exports.Other;'],
    ['what another tool hid', 'authorization: "[trimmed for brevity]"'],
    ['keyword arguments', 'login(password=password, token=token)'],
    ['empty values', 'password= \npassword: ""\ntoken=\'\' secret:'],
    ['concatenation', 'url + "?token=" + token'],
    ['placeholder', 'password=<password> <your-api-key> api_key: "<key>"'],
    ['mask', 'password=*** password: "********" token=xxxxxxxx secret=...'],
    ['hidden already', 'password=[REDACTED] "token":"[REDACTED]" Authorization: [REDACTED]'],
    ['variable of a shell', `password=\${DB_PASSWORD} token=$TOKEN -H "Authorization: Bearer $TOKEN"`],
    ['command of a shell', 'TOKEN=$(cat file) x'],
    ['template literal', 'headers: { Authorization: `Bearer $' + '{token}` }'],
    ['template of a chart', 'password: {{ .Values.password }}'],
    ['variable in a URL', 'postgres://bob:$' + '{PASSWORD}@db/app https://bob:<password>@a'],
    ['booleans and null', 'password: true, secret=false, token: null, "password": null'],
    ['AIza too short', of('AI', 'za', random(10))],
    ['eyJ too short', of('ey', 'J', 'abc.def.ghi')],
    ['npm_config_registry', 'npm_config_registry npm_lifecycle_event npm_package_name'],
    ['hf_transfer', 'hf_transfer hf_hub_download_of_something_long'],
    ['pypi-server', 'pypi-server pypi-mirror-for-the-whole-of-our-company-and-friends'],
    ['glpat- alone', 'glpat- glpat-short'],
    ['ghp too short', 'ghp_short ghp_abc123'],
    ['xoxo', 'xoxo-hugs-and-kisses xoxb-'],
    ['a longer word in capitals', of('AK', 'IA', capitals(16), 'X')],
    ['publishable key of Stripe', of('pk', '_live_', random(24))],
    ['bearer in prose', 'a bearer of responsibilities; Bearer authentication'],
    ['flag in prose', 'the --password flag, --token <token>, --password-file x, --password string  the password'],
    ['certificate', pem('CERTIFICATE')],
    ['public key block', pem('PUBLIC KEY')],
    ['search for a key', `grep -r "${of('-----', 'BEGIN PRIVATE', ' KEY-----')}" .`],
    ['working directory', 'PWD=/home/bob OLDPWD=/tmp'],
    ['a format', String.raw`printf("private key: %s\n", why)`],
    ['a link of Markdown', '[our-passwords]: https://a.example/passwords#set'],
    ['a key to press', '<a href="#top" accesskey="1">'],
    ['settings of a system', 'bob ALL=(root) NOPASSWD: /bin/ls, net.ipv4.tcp_syncookies=1'],
    ['error codes', '"INVALID_PASSWORD": "The password is wrong"'],
    ['scope resolution', 'Token::Identifier secret::Value'],
  ];

  test.each(rows)('51. %s', (_kind, text) => {
    expect(redactText(text)).toBe(text);
  });

  test('51. at least 40 look-alikes', () => {
    expect(new Set(rows.map(([kind]) => kind)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(40);
  });
});

describe('redactJson hides', () => {
  const token = of('gh', 'p_', random(36));
  const rows: readonly (readonly [kind: string, json: string, shown: string])[] = [
    ['a string under a secret name', '{"password":"a b"}', '{"password":"[REDACTED]"}'],
    ['a number under a secret name', '{"pin_password":-1.50e3,"n":1}', '{"pin_password":"[REDACTED]","n":1}'],
    ['a name that is escaped', String.raw`{"pass\u0077ord":"abc"}`, String.raw`{"pass\u0077ord":"[REDACTED]"}`],
    ['a list of secrets', '{"passwords":["a",2,null]}', '{"passwords":["[REDACTED]","[REDACTED]",null]}'],
    ['an object of secrets', '{"secrets":{"db":"abc"}}', '{"secrets":{"db":"[REDACTED]"}}'],
    ['a header as name and value', '{"name":"Cookie","value":"a=b"}', '{"name":"Cookie","value":"[REDACTED]"}'],
    ['the argument of a flag', '["--password","a","--user","b"]', '["--password","[REDACTED]","--user","b"]'],
    ['a token inside a string', `{"t":"use ${token}\\n"}`, '{"t":"use [REDACTED]\\n"}'],
    ['a token with an escaped prefix', `{"t":"sk\\u002dant\\u002d${random(30)}"}`, '{"t":"[REDACTED]"}'],
    ['a URL with escaped slashes', String.raw`["https:\/\/a:bcd@c\/"]`, String.raw`["https:\/\/a:[REDACTED]@c\/"]`],
    [
      'a password with escaped quotes',
      String.raw`{"t":"password=\"a b\" \u00e9"}`,
      String.raw`{"t":"password=\"[REDACTED]\" \u00e9"}`,
    ],
    [
      'JSON in a string',
      String.raw`{"t":"{\"password\":\"a\",\"n\":1}"}`,
      String.raw`{"t":"{\"password\":\"[REDACTED]\",\"n\":1}"}`,
    ],
    ['a number in JSON in a string', String.raw`["{\"password\":1}"]`, String.raw`["{\"password\":\"[REDACTED]\"}"]`],
    ['JSON in JSON in JSON', nested('{"password":12}', 3), nested('{"password":"[REDACTED]"}', 3)],
    ['a token as a name', `{"${token}":1}`, '{"[REDACTED]":1}'],
    ['a string alone', `"${token}"`, '"[REDACTED]"'],
    ['the same name twice', '{"token":"a","token":"b"}', '{"token":"[REDACTED]","token":"[REDACTED]"}'],
    ['what is no JSON', '{"password":"abc"', '{"password":"[REDACTED]"'],
  ];

  test.each(rows)('51. %s', (_kind, json, shown) => {
    expect(redactJson(json)).toBe(shown);
  });
});

describe('redactJson keeps', () => {
  const rows: readonly (readonly [kind: string, json: string])[] = [
    ['true, false, null and nothing', '{"password":true,"secret":false,"token":null,"cookie":"","a":{"password":{}}}'],
    ['counts of tokens', '{"usage":{"max_tokens":1,"totalTokens":2,"tokens":3,"cachedInputTokens":4}}'],
    ['the spelling of everything else', ' { "n" : 1.0e+2 , "big":12345678901234567890, "e":"\\u00e9\\/", "n":2 }\n'],
    ['a schema', '{"password":{"type":"string","description":"What you type","minLength":8}}'],
    ['a reference', `{"password":"\${DB_PASSWORD}","token":"<token>","secret":"***"}`],
    ['a field of another name', '{"name":"password","value2":"x","key":"a","value":"b"}'],
  ];

  test.each(rows)('51. %s', (_kind, json) => {
    expect(redactJson(json)).toBe(json);
  });
});

function nested(json: string, levels: number): string {
  let text = json;
  for (let level = 0; level < levels; level += 1) text = JSON.stringify({ text });
  return text;
}
