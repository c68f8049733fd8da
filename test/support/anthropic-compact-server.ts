import type { IncomingHttpHeaders } from 'node:http';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { sendJson } from './http-server.ts';
import { type Body, bodyOf, startProvider } from './provider-server.ts';

/** What the server answers with, in place of what it would. */
export type MessagesAnswer = { status: number; body: unknown; headers?: Record<string, string> };

export interface AnthropicCompactServer {
  /** Without `/v1`, as the official client takes it. */
  baseURL: string;
  /** The bodies of turns, and of requests for a compaction, in order; and the betas of the latter. */
  turns: Body[];
  compactions: Body[];
  betas: string[][];
  close(): Promise<void>;
}

export interface AnthropicCompactOptions {
  /** Answers the compaction with this number, counted from 1; undefined: it compacts. */
  answer?: (count: number) => MessagesAnswer | undefined;
}

type Block = Record<string, unknown>;

/** The Messages API with its own compaction, on demand and at a threshold. It knows the blocks that it has signed. */
export async function startAnthropicCompactServer({ answer }: AnthropicCompactOptions = {}): Promise<AnthropicCompactServer> {
  const turns: Body[] = [];
  const compactions: Body[] = [];
  const betas: string[][] = [];
  const signed = new Map<string, unknown>();

  function reply(body: Body, headers: IncomingHttpHeaders): MessagesAnswer {
    const given = String(headers['anthropic-beta'] ?? '').split(',');
    const edits: Block[] = body.context_management?.edits ?? [];
    const inline = edits.some(({ type }) => type === 'compact_20260112');
    const isCompaction = Boolean(body.compaction) || inline;
    (isCompaction ? compactions : turns).push(body);
    if (isCompaction) betas.push(given);
    const instead = isCompaction ? answer?.(compactions.length) : undefined;
    if (instead) return instead;
    return (
      refuseBlocks(body) ??
      refuseRequest(body) ??
      (body.compaction
        ? compactOnDemand(body, given)
        : inline
          ? compactInline(body, edits, given)
          : message([says('Done.')], 'end_turn'))
    );
  }

  function refuseBlocks(body: Body): MessagesAnswer | undefined {
    for (const { type, content, signature } of blocksOf(body)) {
      if (type !== 'compaction' || signature === undefined) continue;
      if (!signed.has(String(signature))) return refuse('compaction_signature_invalid');
      if (signed.get(String(signature)) !== content) return refuse('compaction_content_mismatch');
    }
    return undefined;
  }

  function compactOnDemand(body: Body, given: readonly string[]): MessagesAnswer {
    if (!given.includes('compact-2026-09-04')) return refuse(undefined, 'compaction: Extra inputs are not permitted');
    for (const name of ['context_management', 'stop_sequences', 'output_format'])
      if (name in body) return refuse(undefined, `${name} is not allowed together with compaction`);
    if (body.output_config?.format) return refuse(undefined, 'output_config.format is not allowed together with compaction');
    if (['any', 'tool'].includes(body.tool_choice?.type)) return refuse(undefined, 'tool_choice forces a tool');
    if (body.messages.length < 2) return refuse('compaction_nothing_to_summarize');
    const content = `## Goal\nShip it.\n\n## Accomplished\n${body.messages.length} messages were read.`;
    const signature = `sig_${signed.size + 1}`;
    signed.set(signature, content);
    return message(
      [{ type: 'compaction', content, encrypted_content: null, signature, tool_changes: [] }],
      'compaction',
      iteration(),
    );
  }

  function compactInline(body: Body, edits: readonly Block[], given: readonly string[]): MessagesAnswer {
    if (!given.includes('compact-2026-01-12')) return refuse(undefined, 'edits.0.type: unknown');
    const others = edits.filter(({ type }) => type !== 'compact_20260112');
    if (others.length > 0 && !given.includes('context-management-2025-06-27')) return refuse(undefined, 'edits.0.type: unknown');
    if (others.some(({ type }) => type === 'clear_thinking_20251015') && !body.thinking)
      return refuse(undefined, '`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive');
    if (JSON.stringify(body).length / 4 < 50_000) return message([says('It was not long enough to compact.')], 'end_turn');
    const block = { type: 'compaction', content: '## Goal\nShip it.', encrypted_content: 'EpAB' };
    return message([block], 'compaction', iteration());
  }

  const { url, close } = await startProvider((call, response) => {
    const { status, body, headers } = reply(bodyOf(call), call.headers);
    sendJson(response, status, body, headers);
  });
  return { baseURL: url, turns, compactions, betas, close };
}

function refuseRequest(body: Body): MessagesAnswer | undefined {
  // A whole conversation is compacted, also one that ends with an answer.
  const violations = validateAnthropic(body).filter(({ rule }) => !body.compaction || rule !== 'last-message');
  const rules = violations.map(({ rule }) => rule);
  if (rules.includes('compaction-twice')) return refuse('compaction_block_ambiguous');
  if (rules.includes('compaction-misplaced')) return refuse('compaction_block_misplaced');
  const called = blocksOf(body).filter(({ type }) => type === 'tool_use').length;
  const returned = blocksOf(body).filter(({ type }) => type === 'tool_result').length;
  if (body.compaction && called > returned) return refuse('compaction_incomplete_turn');
  return violations[0] && refuse(undefined, JSON.stringify(violations[0]));
}

/** An error as the provider words it. */
export function refuse(errorCode: string | undefined, message: string = errorCode ?? '', status = 400): MessagesAnswer {
  const type = status === 529 ? 'overloaded_error' : 'invalid_request_error';
  const details = errorCode === undefined ? undefined : { error_code: errorCode };
  return { status, body: { type: 'error', error: { type, message, details }, request_id: 'req_1' } };
}

/** A whole reply. */
export function message(content: readonly Block[], stop_reason: string, usage: object = {}): MessagesAnswer {
  const counts = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  return {
    status: 200,
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content,
      stop_reason,
      usage: { ...counts, ...usage },
    },
  };
}

/** What a compaction cost is not in the reply's own numbers. */
export function iteration(): object {
  const counts = { input_tokens: 100, output_tokens: 60, cache_read_input_tokens: 900, cache_creation_input_tokens: 0 };
  return { iterations: [{ type: 'compaction', ...counts, cache_creation: null }] };
}

function says(text: string): Block {
  return { type: 'text', text };
}

function blocksOf(body: Body): Block[] {
  return body.messages.flatMap(({ content }: { content: unknown }) => (Array.isArray(content) ? content : []));
}
