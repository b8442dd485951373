import { describe, expect, test } from 'vitest';
import { isSecretName } from '../../src/redaction/names.js';

describe('isSecretName', () => {
  test.each(
    (
      'password Password PASSWORD passwd db_pwd db_pass passphrase secret secrets client_secret clientSecret CLIENT-SECRET ' +
      'credential credentials apikey apiKey api_key API-KEY APIKey XApiKey x-api-key private_key privateKey accessKey ' +
      'secret_access_key access_token refreshToken ID_TOKEN githubToken csrftoken token admin_token helperToken ' +
      'authorization Authorization Proxy-Authorization cookie Set-Cookie password1 PASSWORD_OLD api_key_prod ' +
      'spring.datasource.password accountKey SECRET_KEY_BASE _auth _authToken access_tokens'
    ).split(' '),
  )('%s names a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each(['API key', 'private key', 'access token'])('%s, in two words, names a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each(
    (
      'max_tokens maxTokens token_count tokens totalTokens promptTokens cachedInputTokens tokenizer next_page_token ' +
      'nextToken eos_token price_per_token primary_key public_key publicKey cache_key sort_key foreign_key key keyboard ' +
      'monkey secretary passwordless password_policy passwordMinLength author authorization_url cookiesEnabled ' +
      'accessKeyId api_key_id private_key_path has_password INVALID_PASSWORD PWD NOPASSWD pass test_pass auth compass'
    ).split(' '),
  )('%s names something else', (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  test('given a name as long as a payload, then its end decides', () => {
    expect(isSecretName(`${'a'.repeat(1_000_000)}_password`)).toBe(true);
    expect(isSecretName(`password_${'a'.repeat(1_000_000)}`)).toBe(false);
  });
});
