import { extractSummary } from 'context-compactor/extractive';
import { countTokens } from './count-tokens.ts';
import { type JsonObject, messagesToSummarize, type WireFormat } from './wire-format.ts';

/** What the summary may have where the request sets no cap. */
const defaultCap = 1024;

/** Summarizes the conversation in the body of a summary request, without a model and within the request's own output cap. */
export function summarize(format: WireFormat, body: JsonObject): string {
  return extractSummary(messagesToSummarize(format, body), { maxTokens: format.outputCap(body) || defaultCap, countTokens });
}
