import { readMessage } from '../../adapters/genkit/read-message.ts';
import type { GenkitMessage, GenkitRequest } from '../../adapters/genkit.ts';
import { readReplacement } from '../../prompt/replacement.ts';

/**
 * The request with each replacement in as few texts as it can be: the plugin for OpenAI's wire makes a message of the user of every text,
 * and some servers take no two of them in a row. What the caller's own request holds stays as it is.
 */
export function joinReplacementTexts<Request extends GenkitRequest>(request: Request, parent: GenkitRequest): Request {
  if (request === parent) return request;
  const own = new Set(parent.messages);
  const messages = request.messages.map((message) =>
    own.has(message) || message.role !== 'user' || !isReplacement(message) ? message : joinTexts(message),
  );
  return { ...request, messages };
}

function isReplacement(message: GenkitMessage): boolean {
  return readMessage(message).some((read) => readReplacement(read));
}

/** The opening joins the text behind it, and the closing the text before it; the user's own texts stay apart. */
function joinTexts({ content, ...message }: GenkitMessage): GenkitMessage {
  const parts = [...content];
  for (const place of [0, -2]) {
    const [left, right] = parts.slice(place, place + 2 || undefined);
    if (isPlainText(left) && isPlainText(right)) parts.splice(place, 2, { text: left.text + right.text });
  }
  return { ...message, content: parts };
}

function isPlainText(part: object | undefined): part is { text: string } {
  return part !== undefined && 'text' in part && typeof part.text === 'string' && Object.keys(part).length === 1;
}
