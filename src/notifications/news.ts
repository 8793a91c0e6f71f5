import type { PoolClient } from "pg";
import { checkName } from "../devices/device-record.ts";
import { EVENT_TYPES, type EventType } from "../events/types.ts";
import { type IdKind, kindNoun } from "../id.ts";
import { nameInMail } from "../mail/message.ts";
import { DEFAULT_TIME_ZONE, dayIn } from "../organizations/time-zone.ts";
import { dueDates } from "../records/due-dates.ts";
import { findNames } from "../records/names-by-id.ts";
import { type NamedKind, namedKinds } from "../records/searchable-kinds.ts";
import { type DailyData, type DailyList, isDaily } from "./daily-events.ts";

/** A line of a message, with the address of the list that it is about. */
export type Line = string | { text: string; url: string };

/** The text of a message: a title and a line for each kind of event. */
export interface News {
	title: string;
	lines: Line[];
	/** Address of the page with more. */
	url: string;
}

/** Largest numbers of lines in a message, and of names in a line. */
const MAX_LINES = 20;
const MAX_NAMES = 5;

/** The kinds of records that messages call by their names. Exceptions have none. */
const NAMED = [
	...namedKinds,
	{
		kind: "enrollment_key",
		table: "enrollment_keys",
		nameOf: (row: string) => `${row}.name`,
		status: undefined,
	},
] as const satisfies readonly NamedKind[];

interface Row {
	type: EventType;
	record_id: string;
	data: Record<string, unknown>;
}

/**
 * Puts events into words, with the names that their records have now. Events of the same kind share
 * a line, so a check that fails on a thousand devices is one line. Returns null if the events are
 * no longer stored.
 */
export async function readNews(
	client: PoolClient,
	organizationId: string,
	eventIds: string[],
	further: number,
	baseUrl: string,
): Promise<News | null> {
	const { rows: events } = await client.query<Row>(
		"select type, record_id, data from events where organization_id = $1 and id = any ($2::bigint[]) order by id",
		[organizationId, eventIds],
	);
	if (events.length === 0) return null;
	const { rows } = await client.query<{ name: string; time_zone: string }>(
		"select name, time_zone from organizations where id = $1",
		[organizationId],
	);
	const [organization = { name: "", time_zone: DEFAULT_TIME_ZONE }] = rows;
	const groups = Map.groupBy(events, ({ type, data }) =>
		[type, data.check_key ?? "", data.kind ?? ""].join(" "),
	);
	const shown = [...groups.values()].slice(0, MAX_LINES);
	const wanted = new Set(
		shown.flatMap((group) =>
			(dailyListsOf(group) ?? [{ record_ids: idsOf(group) }]).flatMap(
				({ record_ids }) => record_ids.slice(0, MAX_NAMES),
			),
		),
	);
	const ids = [...wanted];
	const found = await findNames(client, organizationId, ids, NAMED);
	const names = new Map(found.map(({ id, name }) => [id, name]));
	const lines = shown.flatMap(
		(group): Line[] =>
			dailyLines(group, names) ?? [
				lineOf(group, names, organization.time_zone),
			],
	);
	const left = events.length + further - shown.flat().length;
	if (left > 0) lines.push(`And ${left} more events.`);
	const count = events.length + further;
	return {
		title: `${nameInMail(organization.name)}: ${count === 1 ? "1 event" : `${count} events`}`,
		lines,
		url: `${baseUrl}/o/${organizationId}`,
	};
}

const idsOf = (events: Row[]) => [
	...new Set(events.map(({ record_id }) => record_id)),
];

/**
 * Returns the lists of the latest of these daily events, because the earlier ones are out of date.
 * Returns undefined for other events.
 */
function dailyListsOf(group: Row[]): DailyList[] | undefined {
	const last = group.at(-1);
	// isDaily says that the data have this form.
	return last && isDaily(last.type)
		? (last.data as unknown as DailyData).lists
		: undefined;
}

/** Returns a line for each list of a daily event. */
function dailyLines(
	group: Row[],
	names: Map<string, string | null>,
): Line[] | undefined {
	const { until } = group.at(-1)?.data ?? {};
	return dailyListsOf(group)?.map((list) => {
		const known = list.record_ids.flatMap((id) => {
			const name = names.get(id);
			return name === undefined || name === null ? [] : nameInMail(name);
		});
		const further = list.count - known.length;
		const listed =
			known.length === 0
				? ""
				: `: ${known.join(", ")}${further > 0 ? ` and ${further} more` : ""}`;
		return {
			text: `${headOf(list, String(until))}${listed}`,
			url: list.url,
		};
	});
}

/** Words for a date that is neither a review nor an expiry. */
const COMING: Readonly<Record<string, string>> = {
	renewal_notice_date: "Notices for",
	starts_on: "Beginnings of",
	accepted_until: "Ends of the acceptance of",
};

/** Returns how many records a list has and what they wait for. */
function headOf(list: DailyList, until: string): string {
	const found = dueDates.find(({ kind }) => kind.kind === list.kind);
	const nouns = found?.kind.nouns ?? "records";
	const { field, count, overdue, signatures } = list;
	if (field === "signature") {
		return `Documents that lack signatures (${count}, with ${signatures} missing)`;
	}
	const date = dueDates.find(
		(one) => one.kind.kind === list.kind && one.date === field,
	);
	if (date?.isWork) return `Overdue ${nouns} (${count})`;
	const what = field.startsWith("next_review_")
		? "Reviews of"
		: (COMING[field] ?? "Expiries of");
	return `${what} ${nouns} until ${until} (${count}, ${overdue} overdue)`;
}

/** Returns a line for events of the same kind. */
function lineOf(
	group: Row[],
	names: Map<string, string | null>,
	timeZone: string,
): string {
	const [{ type, data }] = group as [Row];
	const ids = idsOf(group);
	const known = ids.slice(0, MAX_NAMES).flatMap((id) => {
		const name = names.get(id);
		if (name === undefined || name === null) return [];
		return nameInMail(name) + detailOf(group, id, timeZone);
	});
	const further = ids.length - known.length;
	const listed =
		known.length === 0
			? ids.length === 1
				? "1 record"
				: `${ids.length} records`
			: known.join(", ") + (further > 0 ? ` and ${further} more` : "");
	const check = checkOf(data);
	if (type === "posture.failed") return `${check} fails now: ${listed}`;
	if (type === "posture.passed") return `${check} passes again: ${listed}`;
	if (type.startsWith("record.") && typeof data.kind === "string") {
		const done = type.slice("record.".length);
		const noun = kindNoun(data.kind as IdKind);
		return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${done}: ${listed}`;
	}
	const meaning = EVENT_TYPES[type].replace(/\.$/, "");
	return `${meaning}: ${check ? `${check}, ` : ""}${listed}`;
}

/** Returns how an enrollment key ends, as its latest event says. Other records have no detail. */
function detailOf(group: Row[], id: string, timeZone: string): string {
	const event = group.findLast(({ record_id }) => record_id === id);
	if (!event?.type.startsWith("enrollment_key.")) return "";
	const { expires_at, max_devices, used } = event.data;
	const end = dayIn(timeZone, String(expires_at));
	const left = Number(max_devices) - Number(used);
	return ` (until ${end}, ${left} of ${max_devices} devices left)`;
}

function checkOf({ check_key }: Record<string, unknown>): string {
	if (typeof check_key !== "string") return "";
	return nameInMail(checkName(check_key) ?? check_key);
}
