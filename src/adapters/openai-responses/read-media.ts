import type { MediaPart } from '../../message.ts';
import { type Fields, isRecord, stringOf } from '../fields.ts';
import { describeMedia, inlineData, inlineDataOfUrl } from '../inline-media.ts';

/** An attachment, or undefined where the content part is none. */
export function readMedia(part: Fields): MediaPart | undefined {
  switch (part.type) {
    case 'input_image': {
      const media = describeMedia('image', part, inlineDataOfUrl(part.image_url));
      if (typeof part.detail === 'string') media.detail = part.detail;
      return media;
    }
    case 'input_file':
      return describeMedia('document', part, inlineData(part.file_data));
    case 'input_audio':
      return describeMedia('audio', part, inlineData(isRecord(part.input_audio) ? part.input_audio.data : undefined));
    default:
      return undefined;
  }
}

/** An item that is little more than an image: the screenshot of a computer, an image that the model made. It is carried whole. */
export function readImageItem(item: Fields): MediaPart | undefined {
  if (item.type === 'image_generation_call' && stringOf(item.result) !== '')
    return describeMedia('image', item, inlineData(item.result));
  if (item.type !== 'computer_call_output' || !isRecord(item.output)) return undefined;
  return describeMedia('image', item, inlineDataOfUrl(item.output.image_url));
}
