// Kills processes that write to a session, and counts what it costs: `npm run crash`, `npm run crash -- 2000` for more kills.
import { runCrashes } from '../support/crash-run.ts';

const kills = Number(process.argv[2] ?? 500);
const report = await runCrashes({ atSteps: Math.ceil(kills * 0.8), atAnyTime: Math.floor(kills * 0.2) });
for (const [step, times] of report.steps) console.log(`  ${String(times).padStart(5)}  ${step}`);
console.log(`kills                ${report.kills}`);
console.log(`events acknowledged  ${report.acknowledged}`);
console.log(`events unanswered    ${report.unanswered} (of writes that were cut off, and whole)`);
console.log(`events lost          ${report.lost}`);
console.log(`events doubled       ${report.doubled}`);
console.log(`events broken        ${report.broken}`);
if (report.lost + report.doubled + report.broken > 0) process.exitCode = 1;
