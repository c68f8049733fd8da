import type { ChatMessage, ChatReply, ChatRequest } from '../../src/adapters/openai-chat.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop, type LoopState } from '../../src/loop.ts';
import type { CompactionCommit, CompactorOptions } from '../../src/options.ts';
import { type CompactingSend, withAutoCompaction } from '../../src/wrap.ts';
import { longConversation, type ScriptedModel, type Step, scriptedModel, smallBudget } from './scripted-model.ts';

export type ChatOptions = CompactorOptions<ChatRequest, ChatMessage, ChatReply, ChatRequest, ChatReply>;
type ChatCommit = CompactionCommit<ChatRequest>;

interface World {
  model: ScriptedModel;
  events: CompactionEvent[];
  /** What a host would have stored. */
  stored: ChatCommit[];
}

export interface LoopWorld extends World {
  loop: AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>;
}

export interface WrapperWorld extends World {
  create: CompactingSend<ChatRequest, ChatMessage, ChatRequest, ChatReply>;
}

export interface WorldOptions extends Partial<ChatOptions> {
  steps?: readonly Step[];
  turn?: Step;
  request?: ChatRequest;
  state?: LoopState;
}

function build({ steps, turn, request: _request, state: _state, ...options }: WorldOptions): World & { options: ChatOptions } {
  const model = scriptedModel(steps, turn);
  const events: CompactionEvent[] = [];
  const stored: ChatCommit[] = [];
  return {
    model,
    events,
    stored,
    options: {
      adapter: openaiChat(),
      send: model.send,
      commit: async (commit) => {
        stored.push(commit);
      },
      onEvent: (event) => {
        events.push(event);
      },
      ...smallBudget,
      ...options,
    },
  };
}

/** A loop over a conversation that is due for compaction, with a scripted model, a store and a log of events. */
export function createLoop(options: WorldOptions = {}): LoopWorld {
  const { options: given, ...world } = build(options);
  return { ...world, loop: new AutoCompactingLoop(options.request ?? longConversation(), given, options.state) };
}

/** The same around a `send`. */
export function createWrapper(options: WorldOptions = {}): WrapperWorld {
  const { options: given, ...world } = build(options);
  const { send: _send, ...shared } = given;
  return { ...world, create: withAutoCompaction(world.model.send, shared) };
}

/** Types of the lifecycle events, with what tells them apart. */
export function lifecycleOf(events: readonly CompactionEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'auto_compaction_failed') return [`failed: ${event.error.code}`];
    if (event.type === 'auto_compaction_cancelled') return [`cancelled by ${event.by}`];
    if (event.type === 'notice') return [];
    return [event.type.replace('auto_compaction_', '')];
  });
}

export function noticesOf(events: readonly CompactionEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'notice' ? [event.code] : []));
}

/** The event of this type; there must be exactly one. */
export function eventOf<Type extends CompactionEvent['type']>(
  events: readonly CompactionEvent[],
  type: Type,
): Extract<CompactionEvent, { type: Type }> {
  const [event, ...others] = events.filter((candidate) => candidate.type === type);
  if (!event || others.length > 0) throw new Error(`Expected one ${type}, got ${others.length + (event ? 1 : 0)}.`);
  // The filter has chosen by the type.
  return event as Extract<CompactionEvent, { type: Type }>;
}

/** True for a conversation that begins, behind its system messages, with a replacement. */
export function isCompacted({ messages }: ChatRequest): boolean {
  const first = messages.find(({ role }) => role !== 'system');
  return JSON.stringify(first).includes('<compacted_context');
}
