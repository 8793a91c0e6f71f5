import { Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import {
	changesIn,
	namesItsRecord,
	phraseOf,
} from "../../parts/audit-actions/audit-actions.ts";
import { TextLink } from "../../parts/links.tsx";
import { nounOf } from "../../parts/names-in-words.ts";
import { useRecordNames } from "../../parts/records/record-names.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { findRegisterKind } from "../../register-kinds.ts";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

type Entry = OutputOf<"listAuditLog">["audit_entries"][number];

const SHOWN = 6;
const NOTHING = "Changes to records will be listed here.";

/**
 * Shows an administrator who changed what. The data comes from the audit log, which only
 * administrators may read.
 */
export function RecentEntries({ entries }: { entries: readonly Entry[] }) {
	const { organizationId } = useOrganization();
	const changes = changesIn(entries).slice(0, SHOWN);
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
					Audit log
				</TextLink>
			}
		>
			<ul className={`${styles.rows} ${styles.twoColumns}`}>
				{changes.map((entry) => (
					<li key={entry.sequence ?? entry.at} className={styles.row}>
						<Text size="sm" lineClamp={2}>
							<Text span inherit fw={500}>
								{entry.actor_name}
							</Text>{" "}
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
									unnamed={
										phraseOf(entry).endsWith(nounOf(entry.record_kind ?? ""))
											? "(unnamed)"
											: undefined
									}
									isGone={entry.operation.startsWith("delete")}
								/>
							)}
						</Text>
						<Text size="xs" c="dimmed">
							<RelativeTime value={entry.at} />
							{entry.token_name && `, with the token ${entry.token_name}`}
						</Text>
					</li>
				))}
			</ul>
		</Section>
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
						<Text size="sm" lineClamp={2}>
							<RecordName kind={kind} id={id} name={name} />
						</Text>
						<Text size="xs" c="dimmed">
							{nounOf(kind)}, {record.is_new ? "added" : "changed"}{" "}
							<RelativeTime value={record.updated_at} />
						</Text>
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
	unnamed = kind ? `unnamed ${nounOf(kind)}` : "",
	isGone = false,
}: {
	kind: string | null;
	id: string | null;
	name: string | null;
	/** The text if there is no name. */
	unnamed?: string | undefined;
	isGone?: boolean;
}) {
	const { organizationId } = useOrganization();
	const text = name ?? unnamed;
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
