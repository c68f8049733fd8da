import { isBytes } from '../../../any-realm.ts';
import { isRecord, type Report } from '../report.ts';
import { readResultContent, type WireBlock, type WireMessage } from './messages.ts';

const onlyAssistant = new Set(['toolUse', 'reasoningContent', 'citationsContent']);
const onlyUser = new Set(['image', 'document', 'video', 'audio', 'searchResult', 'guardContent']);
const onlySystem = new Set(['toolAddition', 'toolRemoval']);
const media = new Set(['image', 'document', 'video', 'audio']);
const mostImages = 20;

/** What a message and its blocks must hold by themselves. */
export function checkBlocks(messages: readonly WireMessage[], report: Report): void {
  for (const { role, blocks, path } of messages) {
    const images = blocks.filter(({ kind }) => kind === 'image').length;
    if (images > mostImages) report('too-many-images', path, `Expected at most ${mostImages} images, found ${images}.`);
    for (const block of blocks) {
      if (!isAllowed(block.kind, role)) report('block-role', block.path, `Expected no ${block.kind} in a ${role} message.`);
      checkBlock(block, report);
      if (block.kind === 'toolResult') checkResult(block, report);
    }
  }
}

function isAllowed(kind: string, role: WireMessage['role']): boolean {
  if (role === 'system') return kind === 'text' || kind === 'cachePoint' || onlySystem.has(kind);
  if (onlySystem.has(kind)) return false;
  return role === 'user' ? !onlyAssistant.has(kind) : !onlyUser.has(kind);
}

function checkBlock({ kind, value, fields, path }: WireBlock, report: Report): void {
  if (kind === 'text') checkText(value, path, report);
  else if (kind === 'cachePoint') {
    if (fields.type !== 'default') report('cache-point-type', path, 'Expected the type `default`.');
  } else if (media.has(kind)) checkSource(fields, `${path}.${kind}`, report);
  else if (kind === 'toolUse' && !(typeof fields.name === 'string' && isRecord(fields.input)))
    report('tool-input', path, 'Expected the name of a tool and an object as its input.');
}

function checkText(text: unknown, path: string, report: Report): void {
  if (typeof text !== 'string') report('text-type', path, 'Expected a text.');
  else if (!/\S/.test(text)) report('text-blank', path, 'Expected text that is not only white space.');
}

/** Bytes that went through JSON are no bytes any more, and the SDK sends them all the same. */
function checkSource({ format, source }: WireBlock['fields'], path: string, report: Report): void {
  const members = isRecord(source) ? Object.keys(source).filter((key) => source[key] !== undefined) : [];
  if (!isRecord(source) || members.length !== 1)
    report('media-source', `${path}.source`, 'Expected bytes, a place in S3, or the text of a document.');
  else if ('bytes' in source && !(isBytes(source.bytes) && source.bytes.byteLength > 0))
    report('media-bytes', `${path}.source.bytes`, 'Expected a Uint8Array that holds something.');
  if (typeof format !== 'string' && !path.endsWith('document'))
    report('media-format', `${path}.format`, 'Expected the format of the file.');
}

function checkResult({ fields, path }: WireBlock, report: Report): void {
  const inner = readResultContent(fields.content, `${path}.toolResult.content`, report);
  if (fields.status !== undefined && fields.status !== 'success' && fields.status !== 'error')
    report('result-status', path, 'Expected the status success or error.');
  if (fields.status === 'error' && inner.length === 0)
    report('error-empty', path, 'Expected the content of a result not to be empty when its status is error.');
  for (const block of inner) checkBlock(block, report);
}
