/**
 * Other ways to write a summary than `forkSummarizer`, and ways to combine them.
 *
 * @packageDocumentation
 */
export { chunkedSummarizer } from './summarize/chunked.ts';
export { firstOf } from './summarize/first-of.ts';
export { type HierarchicalOptions, hierarchicalSummarizer } from './summarize/hierarchical.ts';
export { isolatedSummarizer } from './summarize/isolated.ts';
export { type KeepLastOptions, keepLast } from './summarize/keep-last.ts';
export {
  type MessagesCompactor,
  type NativeOptions,
  nativeSummarizer,
  type ResponsesCompactBody,
  type ResponsesCompactor,
  type ResponsesCompactReply,
} from './summarize/native.ts';
export type { SummaryModel } from './summarize/transcript-model.ts';
