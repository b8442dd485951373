import type { Page } from '../page.js';
import { renderConversation } from './conversation.js';
import { renderEventTable } from './event-table.js';
import { renderSessionHeader, type ShowView } from './session-header.js';

/** Gives a session as text while it is read: who it is and the conversation, or the table of its events alone. */
export async function* renderShow(view: ShowView, page: Page): AsyncGenerator<string> {
  const { session } = view.session;
  const counted = 'eventCount' in session ? session.eventCount : 0;
  const numberWidth = Math.max(3, String(counted).length);
  if (view.form === 'table') {
    yield* renderEventTable(view.items, page, { numberWidth });
    return;
  }
  yield renderSessionHeader(view, page);
  yield* renderConversation(view.items, page, { numberWidth, full: view.full });
}
