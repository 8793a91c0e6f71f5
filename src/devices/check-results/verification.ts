import { hasJudgedSql, passPercentSql, reachesSql } from "./count-sql.ts";

/** Verdict of a measure's check. */
export const VERIFICATIONS = ["MET", "NOT_MET", "NO_DATA"] as const;

const isReached = (m: string) =>
	reachesSql(`${m}.verified_by_check`, `${m}.verified_by_percent`);

/** SQL of what the check of the measure `m` says. Null: no check verifies the measure. */
export const verificationSql = (m: string) => `case
	when ${m}.verified_by_check is null then null
	when ${isReached(m)} then 'MET'
	when ${hasJudgedSql(`${m}.verified_by_check`)} then 'NOT_MET'
	else 'NO_DATA'
end`;

/** SQL of the share of devices that pass the check of the measure `m`. */
export const measurePercentSql = (m: string) =>
	passPercentSql(`${m}.verified_by_check`);

/**
 * SQL condition: people say that the measure `m` is implemented, but its check does not show it.
 * Without data nothing shows it either.
 */
export const isContradictedSql = (m: string) =>
	`(${m}.state = 'IMPLEMENTED' and ${m}.verified_by_check is not null and ${isReached(m)} is not true)`;

/**
 * SQL of the state of the measure `m` for the coverage of a control. A contradicted measure covers
 * nothing.
 */
export const coveringStateSql = (m: string) =>
	`case when ${isContradictedSql(m)} then 'CONTRADICTED' else ${m}.state end`;
