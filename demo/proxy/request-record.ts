import type { ProviderName } from 'context-compactor/testing';
import { countTokens } from './count-tokens.ts';
import { isSummaryRequest, summarize } from './summary-request.ts';
import type { JsonObject, WireFormat } from './wire-format.ts';

/** One request as it was received. */
export interface RequestRecord {
  wire: ProviderName;
  purpose: 'turn' | 'summary';
  /** The body, byte for byte. */
  raw: Uint8Array;
  /** Tokens of the body in o200k. */
  tokens: number;
  /** Serialized tools, system and content, in order. */
  blocks: readonly string[];
  /** Text blocks of each user message. */
  userTexts: readonly (readonly string[])[];
  /** What the provider would refuse. */
  problems: readonly string[];
}

/** A request as it was received, and what the provider that is played needs of it. */
export interface ReceivedRequest {
  record: RequestRecord;
  outputCap: number;
  /** The answer to a summary request. */
  summary: string | undefined;
}

/** A request that the validator refuses may have any shape: it is kept and counted, but not read. */
export function readRequest(format: WireFormat, request: JsonObject, raw: Buffer): ReceivedRequest {
  const problems = format.findProblems(request);
  const counted = { wire: format.name, raw, tokens: countTokens(raw.toString('utf8')), problems };
  if (problems.length > 0)
    return { record: { ...counted, purpose: 'turn', blocks: [], userTexts: [] }, outputCap: 0, summary: undefined };

  const { blocks, messages, outputCap } = format.read(request);
  const userTexts = messages
    .filter(({ role }) => role === 'user')
    .map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
  const asksForSummary = isSummaryRequest(messages);
  return {
    record: { ...counted, purpose: asksForSummary ? 'summary' : 'turn', blocks, userTexts },
    outputCap,
    summary: asksForSummary ? summarize(messages, outputCap) : undefined,
  };
}
