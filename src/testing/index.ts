/**
 * For tests: what a provider would refuse, models that say what they are told, random conversations, and the proof of an adapter.
 *
 * @packageDocumentation
 */
export { type Choose, chooseFrom, chooseFromList } from './choose.ts';
export { adapterConformance, type ConformanceCase, type ConformanceOptions } from './conformance.ts';
export { type ConversationOptions, randomConversation } from './conversation.ts';
export type { LangchainKit } from './kits/langchain.ts';
export { type OutlinedCall, type OutlinedStep, type OutlinedTurn, outlineConversation } from './outline.ts';
export type {
  Ending,
  ErrorScript,
  ForkSetting,
  ProviderKit,
  ReplyScript,
  RequestScript,
  ScriptedCall,
  ScriptedUsage,
  StreamBreak,
} from './provider-kit.ts';
export { type ProviderKits, type ProviderName, providerKits } from './provider-kits.ts';
export {
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type SentRequest,
  scriptedModel,
} from './scripted-model.ts';
export {
  type OpenStore,
  type StoreConformanceCase,
  type StoreConformanceOptions,
  storeConformance,
} from './store-conformance.ts';
export type { WireViolation } from './wire/violation.ts';
export { wireValidator } from './wire-validator.ts';
