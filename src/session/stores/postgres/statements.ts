/** The SQL of one table. Each is a single statement, so each is a transaction. */
export interface Statements {
  exists: string;
  create: string;
  load: string;
  append: string;
  owned: string;
}

/** The table's name must be one by `isTableName`. */
export function writeStatements(table: string): Statements {
  const name = quoteTable(table);
  return {
    exists: `SELECT to_regclass('${name}') IS NOT NULL AS found`,
    create: `CREATE TABLE IF NOT EXISTS ${name} (
  session text NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  payload text NOT NULL,
  append_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session, seq)
)`,
    load: `SELECT seq, kind, payload FROM ${name} WHERE session = $1 ORDER BY seq`,
    // Two writers that both see the same last event meet at the primary key.
    append: `INSERT INTO ${name} (session, seq, kind, payload, append_id)
SELECT $1, event.seq, event.kind, event.payload, $2
FROM unnest($3::bigint[], $4::text[], $5::text[]) AS event (seq, kind, payload)
WHERE (SELECT coalesce(max(seq), 0) FROM ${name} WHERE session = $1) = $6::bigint
RETURNING seq`,
    // The newest event, and whether these are the ones that this very append stored.
    owned: `SELECT (SELECT coalesce(max(seq), 0) FROM ${name} WHERE session = $1) AS last,
EXISTS (SELECT FROM ${name} WHERE session = $1 AND seq = $2::bigint AND append_id = $3) AS owned`,
  };
}

export function isTableName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/i.test(value);
}

function quoteTable(table: string): string {
  return table
    .split('.')
    .map((name) => `"${name}"`)
    .join('.');
}
