import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Every report that the table must have, by kind. */
const reports: Record<string, string> = {
  PAIR: '001 002 005 006 009 010 011 013 015 017 018 019 020',
  REASON: '021 023 024 026 027',
  WIRE: '030 031 033 035 037 038 039 041',
  INSTR: '042 043 044 046',
  LATEST: '048 050 051 052 053 055',
  SUMMARY: '056 058 059 060 063 064 066',
  REQUEST: '067 068 069 070 073 075 076',
  PROGRESS: '077 079 081 082 084 085 086 087 088 090 091',
  CHAIN: '092 093 097',
  TXN: '098 099 102 104 105 106 108 109 110 111',
  STORE: '112 116 118 119 120',
  RESUME: '121 123 124',
  METER: '125 127 128 129 131 132 133 134',
  TEXT: '135 137 138 140',
  USAGE: '141 142 145 147 148',
  BUDGET: '149 150 151 153 154 156 157',
  OVERFLOW: '159 160 162 163 164 168',
  TRUST: '170 171 174 176 177 178',
  CACHE: '179 180 182',
  PARTIAL: '184 186 188 189 190',
};
const kindOf: ReadonlyMap<string, string> = new Map(
  Object.entries(reports).flatMap(([kind, numbers]) => numbers.split(' ').map((number) => [`B${number}`, kind] as const)),
);

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const testFiles = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));

interface Row {
  number: string;
  report: string;
  kind: string;
  test: string;
}

const rows = read('test/reports.md')
  .split('\n')
  .filter((line) => line.startsWith('| B'))
  .map((line): Row => {
    const [, number = '', report = '', kind = '', test = '', ...rest] = line.split('|').map((cell) => cell.trim());
    expect(rest).toEqual(['']);
    return { number, report, kind, test };
  });

it('the table has one row for each of the 126 reports, in order', () => {
  expect(kindOf.size).toBe(126);
  expect(rows.map(({ number }) => number)).toEqual([...kindOf.keys()]);
});

it.each(rows)('$number has a test', ({ number, report, kind, test }) => {
  expect(kind).toBe(kindOf.get(number));
  expect(report).toMatch(/^[\w.-]+\/[\w.-]+#\d+$/);
  const [, file = '', name = ''] = /^`(test\/[\w./-]+\.test\.ts)` (.+)$/.exec(test) ?? [];
  expect(name).toContain(number);
  expect(read(file)).toContain(name);
});

it('tests name no report that the table does not have', () => {
  const named = testFiles.flatMap((file) =>
    [...read(`test/${file}`).matchAll(/['"`]((?:B\d{3}[,:;] ?)+)/g)].map(([, numbers = '']) => numbers),
  );
  const numbers = new Set(named.flatMap((start) => start.match(/B\d{3}/g) ?? []));
  expect(numbers.size).toBeGreaterThan(50);
  const tested = rows.map(({ number }) => number);
  for (const number of numbers) expect(tested).toContain(number);
});
