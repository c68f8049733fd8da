/**
 * Keeps an LLM agent inside its context window.
 *
 * @packageDocumentation
 */
export type {
  ErrorClass,
  FinishReason,
  ForkOptions,
  PairOptions,
  ProviderAdapter,
  ReadReplyOptions,
  ReplySummary,
  RequestContext,
  SummaryFork,
  TokenFamily,
  Usage,
} from './adapters/adapter.ts';
export type { ManualForm } from './ask-summary.ts';
export type { Breakdown } from './budget/breakdown.ts';
export {
  type BudgetOptions,
  type ContextBudget,
  type ContextBudgetOptions,
  type ContextWindow,
  contextBudget,
  type NumberSource,
} from './budget/context-budget.ts';
export type { CounterKind } from './budget/default-counter.ts';
export { type AdapterOption, type BudgetEstimate, type EstimateOptions, estimateBudget } from './budget/estimate.ts';
export type { CounterLessons, UsageAnchor } from './budget/meter.ts';
export type { RoutePolicy } from './budget/route-policy.ts';
export { type CompactionSuggestion, suggestCompaction } from './budget/suggest-compaction.ts';
export type { TokenCounter } from './budget/token-counter.ts';
export { compact } from './compact.ts';
export {
  type CheckOptions,
  type Compactor,
  type ConversationOption,
  createCompactor,
  type LoopOptions,
  type ObservedReply,
  type PrepareOptions,
} from './compactor.ts';
export { CompactionError, type CompactionErrorCode, type CompactionErrorDetails, isCompactionError } from './errors.ts';
export type {
  CompactionApplied,
  CompactionCancelled,
  CompactionEvent,
  CompactionFailed,
  CompactionNotice,
  CompactionObserver,
  CompactionStarted,
  Notice,
  NoticeCode,
  Omitted,
} from './events.ts';
export type { FitOutcome, FitResult } from './fit.ts';
export type { HeldHistory } from './history/held.ts';
export type { IsUserInput } from './history/turns.ts';
export type { Mark } from './history/view.ts';
export type { ManualCompaction } from './launch.ts';
export { type AppendedReply, AutoCompactingLoop, type ItemOf, type LoopRequestOptions, type LoopState } from './loop.ts';
export type { CompactionResult } from './machine.ts';
export {
  type MediaPart,
  type Message,
  type NativePart,
  type Part,
  type ReasoningPart,
  type Role,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from './message.ts';
export type {
  Commit,
  CompactionCommit,
  CompactorOptions,
  CountingOptions,
  RetainOptions,
  Send,
  SendContext,
  SharedOptions,
  SummaryOptions,
  When,
} from './options.ts';
export type { CompactionPlan } from './plan.ts';
export { compactionGuidance, summarySections } from './prompt/guidance.ts';
export { buildAutoCompactionPrompt, buildCompactionPrompt } from './prompt/instruction.ts';
export { type Replacement, readReplacement } from './prompt/replacement.ts';
export type { Redact, RedactionSource } from './redact.ts';
export type { ConversationSnapshot } from './snapshot.ts';
export { forkSummarizer } from './summarize/fork.ts';
export type { NativeSummary, Summarizer, Summary, SummarySizes, SummaryTask, WrittenSummary } from './summarize/summarizer.ts';
export type { FailureRecord, Standing, SuppressedUntil } from './suppression.ts';
export type { Gate, ProvenWindow, TriggerState } from './trigger.ts';
export { type CompactingSend, withAutoCompaction } from './wrap.ts';
