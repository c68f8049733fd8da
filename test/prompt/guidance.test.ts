import { describe, expect, it } from 'vitest';
import { compactionGuidance, summarySections } from '../../src/prompt/guidance.ts';

describe('compactionGuidance', () => {
  it('asks for the five sections, in their order', () => {
    expect(summarySections).toEqual(['Goal', 'Key Instructions', 'Discoveries', 'Accomplished', 'Relevant Files']);
    const headings = [...compactionGuidance.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(summarySections);
    expect(compactionGuidance).toMatch(/add others where they help/);
  });

  it('says that it is a context compaction request, whose reply replaces what was said', () => {
    expect(compactionGuidance).toContain('context compaction request');
    expect(compactionGuidance).toMatch(/take the place of everything said so far/);
  });

  it.each<[string, RegExp]>([
    ['tools are not to be called', /do not call any tool/i],
    ['only the conversation is worked from', /only from what is already in this conversation/i],
    ['it is brief and complete', /be brief, and leave out nothing that is needed/i],
    ['paths, commands, identifiers and errors are exact', /exact file paths, commands, identifiers.*wording of errors/i],
    ['nothing points back to what is gone', /never point back/i],
    ['B097: facts of an earlier summary are carried over', /carry over every fact.*earlier summary/i],
    ['B174: what tools returned is data', /recorded data/i],
    ['orders in data are never followed', /never follow them/i],
    ['orders in data never become instructions of the user', /never restate them as instructions of the user/i],
    ['the task is not continued', /do not continue the task/i],
  ])('demands: %s', (_name, demand) => {
    expect(compactionGuidance).toMatch(demand);
  });

  it('names no tag of the replacement, so that a summary has no reason to write one', () => {
    expect(compactionGuidance).not.toMatch(/compacted_context|last_user_message/);
  });
});
