import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../src/errors.js';
import { rawJson } from '../../src/model/json.js';
import { meetsCondition, parseEventCondition } from '../../src/plan/event-condition.js';

function meets(condition: string, payload: string | undefined, type = 'message'): boolean {
  const event = { type, payload: payload === undefined ? undefined : rawJson(payload) };
  return meetsCondition(event, parseEventCondition(condition));
}

describe('a condition on an event', () => {
  test('given a type alone, then the payload does not matter', () => {
    expect(meets('message', undefined)).toBe(true);
    expect(meets('message', '{"role":"user"}')).toBe(true);
    expect(meets('message', undefined, 'error')).toBe(false);
  });

  test.each([
    ['message:/role=user', '{"role":"user"}', true],
    ['message:/role=user', '{"role":"assistant"}', false],
    ['message:/role=user', '{}', false],
    ['message:/role=user', '["role"]', false],
    ['message:/role=', '{"role":""}', true],
    ['message:/a/1/b=x=y', '{"a":[0,{"b":"x=y"}]}', true],
    ['message:/a/01=x', '{"a":["w","x"]}', false],
    ['message:/a~1b/~0=1', '{"a/b":{"~":1}}', true],
    ['message:/n=9007199254740993', '{"n":9007199254740993}', true],
    ['message:/n=9007199254740992', '{"n":9007199254740993}', false],
    ['message:/n=1', '{"n":"1"}', true],
    ['message:/n=true', '{"n":true}', true],
    ['message:/n=null', '{"n":null}', true],
    ['message:/n={"a": 1}', '{"n":{"a":1}}', true],
    ['message:/n=not json', '{"n":1}', false],
    ['message:/x="y"', '{"x":"y"}', false],
    ['message:=plain', '"plain"', true],
    ['message:/é=1', '{"\\u00e9":1}', true],
  ])('given %s and the payload %s, then %s', (condition, payload, expected) => {
    expect(meets(condition, payload)).toBe(expected);
  });

  test('given a type with a colon in it, then the pointer begins after the one that it follows', () => {
    expect(meets('x:y:/a=1', '{"a":1}', 'x:y')).toBe(true);
    expect(meets('x:y', undefined, 'x:y')).toBe(true);
  });

  test('given an event without a payload, then no value of it can be there', () => {
    expect(meets('message:/role=user', undefined)).toBe(false);
  });

  test.each(['', ' ', ':/a=1', 'message:/a', 'message:/a~2=1'])('given %j, then it is refused', (text) => {
    expect(() => parseEventCondition(text)).toThrow(InvalidArgumentError);
  });
});
