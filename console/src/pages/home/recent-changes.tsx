import { useQuery } from "@tanstack/react-query";
import type { InputOf, OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import {
	changesIn,
	namesItsRecord,
	otherEndOf,
	phraseOf,
} from "../../parts/audit-actions/audit-actions.ts";
import { nameOrUnnamed } from "../../parts/devices/device-name.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { nounOf } from "../../parts/names-in-words.ts";
import { PlainText } from "../../parts/plain-text.tsx";
import { useRecordNames } from "../../parts/records/record-names.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

type Entry = OutputOf<"listAuditLog">["audit_entries"][number];

const SHOWN = 6;
const NOTHING = "Changes to records will be listed here.";

/**
 * The number of audit entries that are read. The page leaves out the sign-ins and sign-outs among
 * them.
 */
const ENTRIES = 30;

/** Longest time, in milliseconds, in which a call writes its entries. */
const CALL_MS = 5_000;

/**
 * Shows an administrator who changed what. The data comes from the audit log, which only
 * administrators may read. Devices and the service itself write many entries, so they are shown only
 * if no person has changed anything.
 */
export function RecentEntries() {
	const { organizationId } = useOrganization();
	const people = useEntries(organizationId, { actor_kind: "USER" });
	const tokens = useEntries(organizationId, { actor_kind: "TOKEN" });
	const ofPeople = [people, tokens]
		.flatMap(({ entries }) => changesIn(entries))
		.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
	const isAlone = people.isLoaded && tokens.isLoaded && ofPeople.length === 0;
	const all = useEntries(organizationId, {}, isAlone);
	const failed = people.failed ?? tokens.failed ?? all.failed;
	if (failed)
		return <ErrorState error={failed.error} onRetry={failed.refetch} />;
	if (!people.isLoaded || !tokens.isLoaded || (isAlone && !all.isLoaded))
		return;
	return <Changes entries={isAlone ? changesIn(all.entries) : ofPeople} />;
}

/**
 * Loads the last entries that match a filter. If they end with those of starter records, which may
 * be a thousand, it also loads the last entries before these.
 */
function useEntries(
	organizationId: string,
	filter: NonNullable<InputOf<"listAuditLog">["filter"]>,
	enabled = true,
) {
	const query = (until?: string) =>
		operationQuery("listAuditLog", {
			organization_id: organizationId,
			size: ENTRIES,
			filter: { is_imported: false, ...filter, ...(until && { until }) },
		});
	const last = useQuery({ ...query(), enabled });
	const entries = last.data?.audit_entries ?? [];
	const oldest = entries.at(-1);
	const until =
		oldest?.operation === "addStarters" && last.data?.next_cursor
			? new Date(Date.parse(oldest.at) - CALL_MS).toISOString()
			: undefined;
	const before = useQuery({ ...query(until), enabled: until !== undefined });
	return {
		entries: until
			? [...entries, ...(before.data?.audit_entries ?? [])]
			: entries,
		isLoaded: last.isSuccess && (until === undefined || before.isSuccess),
		failed: [last, before].find(({ isError }) => isError),
	};
}

function Changes({ entries }: { entries: readonly Entry[] }) {
	const { organizationId } = useOrganization();
	const changes = entries.slice(0, SHOWN);
	// A new device has no name until it has enrolled, and its entry keeps none.
	const names = useRecordNames(
		organizationId,
		changes.flatMap(({ record_kind, record_id, record_name }) =>
			record_kind === "device" && record_id && !record_name ? [record_id] : [],
		),
	);
	return (
		<Section
			title="Recent changes"
			none={changes.length > 0 ? undefined : NOTHING}
			more={
				<TextLink
					to="/o/$org/settings/audit-log"
					params={{ org: organizationId }}
					size="sm"
				>
					All changes
				</TextLink>
			}
		>
			<ul className={`${styles.rows} ${styles.twoColumns}`}>
				{changes.map((entry) => (
					<li key={entry.sequence ?? entry.at} className={styles.row}>
						<PlainText size="sm" lineClamp={2}>
							<PlainText span inherit fw={500}>
								{entry.actor_name}
							</PlainText>{" "}
							{phraseOf(entry)}{" "}
							{namesItsRecord(entry) && (
								<RecordName
									kind={entry.record_kind}
									id={entry.record_id}
									name={
										entry.record_name ??
										names.get(entry.record_id ?? "") ??
										null
									}
									isGone={entry.operation.startsWith("delete")}
								/>
							)}
							{namesItsRecord(entry) && <OtherEnd entry={entry} />}
						</PlainText>
						<PlainText size="xs" c="dimmed">
							<RelativeTime value={entry.at} />
							{entry.token_name && `, with the token ${entry.token_name}`}
						</PlainText>
					</li>
				))}
			</ul>
		</Section>
	);
}

/** Names the other record of a link. */
function OtherEnd({ entry }: { entry: Entry }) {
	const other = otherEndOf(entry);
	if (!other) return null;
	return (
		<>
			{" "}
			and the {nounOf(other.kind)} <RecordName {...other} />
		</>
	);
}

/** Shows all other readers which records have changed, without saying who changed them. */
export function RecentRecords({
	records,
}: {
	records: Overview["recently_changed"];
}) {
	return (
		<Section
			title="Recent changes"
			none={records.length > 0 ? undefined : NOTHING}
		>
			<ul className={`${styles.rows} ${styles.twoColumns}`}>
				{records.slice(0, SHOWN).map(({ kind, id, name, ...record }) => (
					<li key={id} className={styles.row}>
						<PlainText size="sm" lineClamp={2}>
							<RecordName kind={kind} id={id} name={name} />
						</PlainText>
						<PlainText size="xs" c="dimmed">
							{nounOf(kind)}, {record.is_new ? "added" : "changed"}{" "}
							<RelativeTime value={record.updated_at} />
						</PlainText>
					</li>
				))}
			</ul>
		</Section>
	);
}

/** Shows the name of a record, with a link if the record still exists and has a page. */
function RecordName({
	kind,
	id,
	name,
	isGone = false,
}: {
	kind: string | null;
	id: string | null;
	name: string | null;
	isGone?: boolean;
}) {
	const { organizationId } = useOrganization();
	const text =
		kind === "device" && id
			? nameOrUnnamed(id, name)
			: (name ?? (kind ? `Unnamed ${nounOf(kind)}` : ""));
	if (isGone || !id || !kind) return text;
	if (kind === "device") {
		return (
			<TextLink
				to="/o/$org/devices/$id"
				params={{ org: organizationId, id }}
				inherit
			>
				{text}
			</TextLink>
		);
	}
	if (!findRegisterKind(kind)) return text;
	return (
		<TextLink
			to="/o/$org/r/$kind/$id"
			params={{ org: organizationId, kind, id }}
			inherit
		>
			{text}
		</TextLink>
	);
}
