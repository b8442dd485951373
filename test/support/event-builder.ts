import type { EventInput } from '../../src/index.js';

/** Gives a message that is to be appended. */
export function aMessage(content = 'hello', role = 'user'): EventInput {
  return { type: 'message', payload: { content, role } };
}

/** What can be said of a line of a log; the rest is filled in. `payload` is JSON text. */
export interface LineParts {
  readonly sessionId?: string;
  readonly sequence?: number;
  readonly type?: string;
  readonly createdAt?: string;
  readonly payload?: string | undefined;
}

/** Gives the line of an event as Zero writes it, without its newline. */
export function aLine(parts: LineParts = {}): string {
  const { sessionId = 's', sequence = 1, type = 'message', createdAt = '2026-07-09T11:00:00Z' } = parts;
  const { payload = `{"content":"event ${sequence}","role":"user"}` } = parts;
  const head = `{"id":"${sessionId}:${sequence}","sessionId":"${sessionId}","sequence":${sequence}`;
  return `${head},"type":"${type}","createdAt":"${createdAt}","payload":${payload}}`;
}
