import type { TokenFamily } from '../adapters/adapter.ts';
import type { MediaPart, Message, NativePart, Part } from '../message.ts';
import { mediaTokens } from './media-cost.ts';
import type { TokenCounter } from './token-counter.ts';

/** Where the tokens of a request are. */
export interface Breakdown {
  system: number;
  tools: number;
  user: number;
  assistant: number;
  tool: number;
  /** Images, documents and other attachments, whoever sent them. */
  media: number;
  /** What is carried without being read: encrypted reasoning, provider-specific parts. */
  opaque: number;
}

/** How text and media are counted. */
export interface Measure {
  count: TokenCounter;
  family: TokenFamily;
  model?: string | undefined;
}

/** What a provider adds around each message, and around each call. */
const messageOverhead = 4;
const callOverhead = 8;
/** Longer runs of base64 in opaque parts are ciphertext, not text. */
const shortestCiphertext = 256;

/** The tokens of messages by category. */
export function countMessages(messages: readonly Message[], measure: Measure): Breakdown {
  const breakdown = emptyBreakdown();
  for (const message of messages) {
    breakdown[message.role] += messageOverhead;
    for (const part of message.parts) countPart(part, message.role, breakdown, measure);
  }
  return breakdown;
}

export function emptyBreakdown(): Breakdown {
  return { system: 0, tools: 0, user: 0, assistant: 0, tool: 0, media: 0, opaque: 0 };
}

export function sumBreakdown(breakdown: Breakdown): number {
  return Object.values(breakdown).reduce((sum: number, tokens: number) => sum + tokens, 0);
}

export function addBreakdown(target: Breakdown, added: Breakdown): void {
  for (const key of Object.keys(target) as (keyof Breakdown)[]) target[key] += added[key]; // Object.keys forgets the key type
}

/** The breakdown scaled so that it sums to `total`, each category rounded half up and the rest given to the largest. K12. */
export function scaleBreakdown(breakdown: Breakdown, total: number): Breakdown {
  const sum = sumBreakdown(breakdown);
  const scaled = emptyBreakdown();
  if (sum === 0) return { ...scaled, opaque: total };
  const keys = Object.keys(scaled) as (keyof Breakdown)[]; // Object.keys forgets the key type
  for (const key of keys) scaled[key] = Math.floor((breakdown[key] * total) / sum + 0.5);
  const largest = keys.reduce((best, key) => (scaled[key] > scaled[best] ? key : best));
  scaled[largest] += total - sumBreakdown(scaled);
  return scaled;
}

/** Any JSON-like value as text, for counting alone. Never throws: what cannot be written counts as nothing. */
export function stringifyForCounting(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

function countPart(part: Part, role: Message['role'], breakdown: Breakdown, measure: Measure): void {
  if (part.type === 'text' || part.type === 'reasoning') breakdown[role] += measure.count(part.text);
  else if (part.type === 'toolCall')
    breakdown[role] += callOverhead + measure.count(part.name) + measure.count(stringifyForCounting(part.input));
  else if (part.type === 'toolResult') {
    breakdown[role] += callOverhead;
    for (const inner of part.content) countPart(inner, role, breakdown, measure);
  } else if (part.type === 'media') breakdown.media += countMedia(part, measure);
  else breakdown.opaque += countOpaque(part, measure);
}

function countMedia(part: MediaPart, measure: Measure): number {
  return mediaTokens(part, measure.family, measure.model);
}

/** Ciphertext decodes to three quarters of its length, at about four bytes a token. */
function countOpaque(part: NativePart, measure: Measure): number {
  let ciphertext = 0;
  let text: string;
  try {
    text =
      JSON.stringify(part.value, (_key, value: unknown) => {
        if (ArrayBuffer.isView(value)) {
          ciphertext += value.byteLength;
          return '';
        }
        if (typeof value !== 'string' || value.length < shortestCiphertext || !/^[\w+/=-]+$/.test(value)) return value;
        ciphertext += value.length * 0.75;
        return '';
      }) ?? '';
  } catch {
    return 0;
  }
  return measure.count(text) + Math.ceil(ciphertext / 4);
}
