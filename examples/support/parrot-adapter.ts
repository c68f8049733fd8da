// An adapter for a made-up provider, to show how little one needs. Its conversation is a list of lines:
// { who: 'human' | 'parrot' | 'ability', say?, use?: [{ key, ability, with }], key? }
import { CompactionError, type Message, type Part, type ProviderAdapter } from 'context-compactor';

export interface Line {
  who: 'human' | 'parrot' | 'ability';
  say?: string;
  /** What the parrot wants to be done. */
  use?: readonly { key: string; ability: string; with: unknown }[];
  /** Which use an ability answers. */
  key?: string;
  extras?: readonly unknown[];
}

export interface Talk {
  persona?: string;
  abilities?: readonly string[];
  limit?: number;
  lines: readonly Line[];
}

export interface Squawk {
  line: Line;
  ended?: 'well' | 'early' | 'unwilling' | 'asking';
  read?: number;
  wrote?: number;
}

const roles = { human: 'user', parrot: 'assistant', ability: 'tool' } as const;
const finishes = { well: 'stop', early: 'length', unwilling: 'refusal', asking: 'tool-calls' } as const;

export function parrotAdapter(): ProviderAdapter<Talk, Line, Squawk> {
  return {
    name: 'parrot',
    family: 'generic',
    items: ({ lines }) => {
      if (!Array.isArray(lines)) throw new CompactionError('invalid-request', 'Expected `lines` to be an array.');
      return lines;
    },
    withItems: (talk, lines) => ({ ...talk, lines }),
    withSystem: (talk, persona) => ({ ...talk, persona }),
    context: ({ persona, abilities, limit }) => ({ system: persona, tools: abilities, outputCap: limit }),
    readItem,
    writeMessage,
    // This provider never says what it thinks.
    withoutReasoning: (line) => line,
    repairItem: (line) => (line.say?.trim() || line.use || line.key || line.extras ? line : undefined),
    forkForSummary: (talk, instruction, { maxTokens }) => ({
      request: { ...talk, limit: maxTokens, lines: [...talk.lines, { who: 'human', say: instruction }] },
      changed: [],
    }),
    async readReply({ line, ended, ...squawk }, { onText } = {}) {
      const [message] = readItem(line);
      const calls = message?.parts.filter((part) => part.type === 'toolCall') ?? [];
      if (line.say) onText?.(line.say);
      const finish = ended ? finishes[ended] : 'incomplete';
      return { text: line.say ?? '', finish, calls, items: [line], usage: readUsage({ line, ...squawk }) };
    },
    usage: readUsage,
    classifyError: (error) => {
      const message = error instanceof Error ? error.message : '';
      if (/too much talk/.test(message)) return { kind: 'overflow' };
      return { kind: /asleep|gone/.test(message) ? 'retryable' : 'fatal' };
    },
  };
}

function readItem({ who, say, use = [], key, extras = [] }: Line): Message[] {
  const said = say ? [{ type: 'text', text: say } as const] : [];
  if (who === 'ability') return [{ role: 'tool', parts: [{ type: 'toolResult', callId: key ?? '', content: said }] }];
  const calls = use.map(({ key: id, ability: name, with: input }): Part => ({ type: 'toolCall', id, name, input }));
  return [{ role: roles[who], parts: [...said, ...calls, ...extras.map((value): Part => ({ type: 'native', value }))] }];
}

function writeMessage({ role, parts }: Message): Line[] {
  const say = sayAll(parts);
  const results = parts.flatMap((part): Line[] =>
    part.type === 'toolResult' ? [{ who: 'ability', key: part.callId, say: sayAll(part.content) }] : [],
  );
  const use = parts.flatMap((part) => (part.type === 'toolCall' ? [{ key: part.id, ability: part.name, with: part.input }] : []));
  const extras = parts.flatMap((part) => (part.type === 'native' || part.type === 'media' ? [part.value] : []));
  if (!say.trim() && use.length === 0 && extras.length === 0) return results;
  const who = role === 'assistant' ? 'parrot' : 'human';
  return [...results, { who, say, ...(use.length > 0 && { use }), ...(extras.length > 0 && { extras }) }];
}

/** One text stands for all: the parts of a replacement bring their own line breaks. */
function sayAll(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

function readUsage({ read, wrote }: Squawk) {
  return read === undefined ? undefined : { inputTokens: read, outputTokens: wrote ?? 0 };
}
