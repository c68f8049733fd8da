import { type Fields, isNothing, isRecord } from '../fields.ts';

/** Markers of the prompt cache, which move with every step. */
const cacheMarkers: ReadonlySet<string> = new Set([
  'cacheControl',
  'cache_control',
  'cachePoint',
  'promptCacheBreakpoint',
  'prompt_cache_breakpoint',
]);

/** `providerOptions` or `providerMetadata` of one part or request: a record for each provider. */
type Options = unknown;

/** The value of an option, whichever provider it is for; undefined where none has it. */
export function optionOf(options: Options, key: string): unknown {
  if (!isRecord(options)) return undefined;
  for (const record of Object.values(options)) if (isRecord(record) && !isNothing(record[key])) return record[key];
  return undefined;
}

/** The options without some of each provider; undefined where none are left, the very same object where nothing was taken. */
export function withoutOptions(options: Options, isDropped: (key: string, value: unknown) => boolean): Fields | undefined {
  if (!isRecord(options)) return undefined;
  const providers = Object.entries(options);
  const kept = providers.flatMap(([provider, record]): [string, unknown][] => {
    if (!isRecord(record)) return isNothing(record) ? [] : [[provider, record]];
    const entries = Object.entries(record).filter(([key, value]) => !isDropped(key, value));
    if (entries.length === Object.keys(record).length && entries.length > 0) return [[provider, record]];
    return entries.length > 0 ? [[provider, Object.fromEntries(entries)]] : [];
  });
  if (kept.length === 0) return undefined;
  const same = kept.length === providers.length && kept.every(([provider, record]) => options[provider] === record);
  return same ? options : Object.fromEntries(kept);
}

/** What the options say of the content: signatures, ciphertext, citations. Ids of the server's own say nothing. */
export function sealOf(options: Options): Fields | undefined {
  return withoutOptions(options, (key, value) => key === 'itemId' || cacheMarkers.has(key) || isNothing(value));
}

/** A part without its cache markers: the very same object where it has none. */
export function withoutCacheMarkers(part: Fields): Fields {
  const { providerOptions, ...rest } = part;
  const kept = withoutOptions(providerOptions, (key) => cacheMarkers.has(key));
  if (providerOptions === undefined || kept === providerOptions) return part;
  return kept ? { ...rest, providerOptions: kept } : rest;
}
