/** Calls a tool and returns its structured result. */
// biome-ignore lint/suspicious/noExplicitAny: a solution reads what it expects to be there.
export type Ask = (tool: string, input?: object) => Promise<any>;

// biome-ignore lint/suspicious/noExplicitAny: see Ask.
export type Row = any;

/** A question of a person, with a program that answers it by calling tools. */
export interface Question {
	question: string;
	/** Returns the rows of the answer, in any order. */
	solve: (ask: Ask) => Promise<unknown[][]>;
	/** The same rows from the database. */
	sql: string;
}

const DAY_MS = 86_400_000;
export const dayFromNow = (days: number) =>
	new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
export const timeFromNow = (days: number) =>
	new Date(Date.now() + days * DAY_MS).toISOString();

export const groups = ({ groups }: Row) =>
	groups.map(({ value, count }: Row) => [value, count]);

/** SQL: the person who owns the row `t`. */
export const OWNER = "left join people p on p.id = t.owner_id";
