import type { ProviderAdapter } from './adapters/adapter.ts';
import { CompactionError } from './errors.ts';
import type { ItemReader, Reading } from './history/reading.ts';
import type { RecognizeReplacement } from './history/replaced.ts';
import type { Message, Part } from './message.ts';

/**
 * What a text is that is redacted: what was said and what tools returned, an earlier summary, what the user asked a summary to attend to,
 * and the summary that the model wrote.
 */
export type RedactionSource = 'transcript' | 'previous-summary' | 'instructions' | 'summary';

/** Gives a text back without what must not be in it; the same text where there is nothing of that kind. */
export type Redact = (text: string, source: RedactionSource) => string;

interface Deps<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  read: ItemReader<Item>;
  redact?: Redact | undefined;
}

/** The text as it may be used. */
export function redactText(text: string, source: RedactionSource, redact: Redact | undefined): string {
  if (!redact) return text;
  const redacted: unknown = redact(text, source);
  if (typeof redacted === 'string') return redacted;
  throw new CompactionError('invalid-options', `Expected \`summary.redact\` to return a text, got ${typeof redacted}.`);
}

/** The items with all of their texts redacted; the very same array and items where nothing had to be. */
export function redactItems<Request, Item, Reply>(
  items: readonly Item[],
  recognize: RecognizeReplacement,
  deps: Deps<Request, Item, Reply>,
): readonly Item[] {
  const { redact } = deps;
  if (!redact) return items;
  const redacted = items.map((item) => redactItem(deps.read(item), recognize, redact, deps.adapter));
  return redacted.every((written, index) => written.length === 1 && written[0] === items[index]) ? items : redacted.flat();
}

function redactItem<Request, Item, Reply>(
  reading: Reading<Item>,
  recognize: RecognizeReplacement,
  redact: Redact,
  adapter: ProviderAdapter<Request, Item, Reply>,
): readonly Item[] {
  const source = recognize(reading) ? 'previous-summary' : 'transcript';
  const messages = reading.messages.map((message) => redactMessage(message, (text) => redactText(text, source, redact)));
  const isSame = messages.every((message, index) => message === reading.messages[index]);
  return isSame ? [reading.item] : messages.flatMap((message) => adapter.writeMessage(message));
}

function redactMessage(message: Message, redact: (text: string) => string): Message {
  const parts = message.parts.map((part) => redactPart(part, redact));
  return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
}

/** Opaque parts and media are the provider's: nobody can read a text in them. */
function redactPart(part: Part, redact: (text: string) => string): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = redact(part.text);
      return text === part.text ? part : { ...part, text };
    }
    case 'toolCall': {
      const input = redactValue(part.input, redact);
      return input === part.input ? part : { ...part, input };
    }
    case 'toolResult': {
      const content = part.content.map((inner) => (inner.type === 'text' ? redactPart(inner, redact) : inner));
      // Text stays text.
      return content.every((inner, index) => inner === part.content[index])
        ? part
        : { ...part, content: content as typeof part.content };
    }
    default:
      return part;
  }
}

/** Arguments of a call, whatever they are: secrets are found by what they look like, not by the name that they have. B178 */
function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) {
    const values = value.map((inner) => redactValue(inner, redact));
    return values.every((inner, index) => inner === value[index]) ? value : values;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, redactValue(inner, redact), inner] as const);
  return entries.every(([, redacted, inner]) => redacted === inner)
    ? value
    : Object.fromEntries(entries.map(([key, redacted]) => [key, redacted]));
}
