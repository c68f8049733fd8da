import { listOf } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { isModel, responseIn } from './function-parts.ts';
import type { GeminiContent } from './shape.ts';

interface Joint {
  contents: readonly GeminiContent[];
  /** What they held when they were joined: whoever adds to the joint has made another content of it. */
  parts: readonly unknown[];
}

const joints = new WeakMap<GeminiContent, Joint>();

/** The contents that a content was joined of; itself where it is the caller's. */
export function partsOfJoint(content: GeminiContent): readonly GeminiContent[] {
  const joint = joints.get(content);
  return joint && isSameList(joint.parts, listOf(content.parts)) ? joint.contents : [content];
}

/**
 * The provider takes one content a turn, and knows three kinds of turns: of the user, of the model, and of results. Results do not stand
 * beside anything else: newer models take what follows them in the same content for a turn of the model.
 */
export function mayJoin(left: GeminiContent, right: GeminiContent): boolean {
  return isModel(left) === isModel(right) && holdsAnswers(left) === holdsAnswers(right);
}

export function joinContents(contents: readonly [GeminiContent, ...GeminiContent[]]): GeminiContent {
  const [first] = contents;
  if (contents.length === 1) return first;
  const parts = contents.flatMap((content) => content.parts ?? []);
  const joined: GeminiContent = { ...first, role: first.role ?? 'user', parts };
  joints.set(joined, { contents: [...contents], parts: [...parts] });
  return joined;
}

export function holdsAnswers({ parts }: GeminiContent): boolean {
  return listOf(parts).some((part) => responseIn(part) !== undefined);
}
