import { Button, Code, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import {
	actionTitle,
	type Entry,
	isChangedByReview,
	linkIn,
	titleOf,
} from "../../parts/audit-actions/audit-actions.ts";
import type { Names } from "../../parts/records/record-names.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { AuditChanges } from "./audit-changes.tsx";
import { Actor } from "./audit-filter-choices.tsx";
import { AuditRecord } from "./audit-record.tsx";

/**
 * Shows all details of one entry. `onFilter` lists the entries that have something in common with
 * it.
 */
export function AuditEntry({
	entry,
	names,
	onFilter,
	onClose,
}: {
	entry: Entry;
	/** Names of the people who acted by a link. */
	names: Names;
	onFilter: (filter: Record<string, string>) => void;
	onClose: () => void;
}) {
	const { actor_id, actor_name, record_id, token_id } = entry;
	const importId = entry.record_kind === "import" ? record_id : entry.import_id;
	// The link came or went because another record was added or deleted.
	const isPart =
		(linkIn(entry) && !/^(un)?link/.test(entry.operation)) ||
		isChangedByReview(entry);
	useReturnFocus();
	const facts: [string, ReactNode][] = [
		["When", <DateTime key="when" value={entry.at} to="zone" />],
		["Who", <Actor key="who" entry={entry} names={names} />],
		["Record", <AuditRecord key="record" entry={entry} />],
		...(isPart
			? [
					["Part of", actionTitle(entry.operation)] satisfies [
						string,
						ReactNode,
					],
				]
			: []),
		["Client", entry.client ?? "–"],
		["Address", entry.address ?? "–"],
	];
	return (
		<Drawer
			opened
			onClose={onClose}
			position="right"
			size="lg"
			title={`${titleOf(entry)} (entry ${entry.sequence})`}
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Stack gap="lg">
				{entry.outcome === "REFUSED" && (
					<Group>
						<StatusBadge tone="bad" label="Denied: the role did not allow it" />
					</Group>
				)}
				<Stack component="dl" gap={6} m={0}>
					{facts.map(([name, value]) => (
						<Group key={name} gap="xs" align="flex-start" wrap="nowrap">
							<Text component="dt" size="sm" c="dimmed" w={80} flex="none">
								{name}
							</Text>
							<Text
								component="dd"
								m={0}
								size="sm"
								style={{ overflowWrap: "anywhere" }}
							>
								{value}
							</Text>
						</Group>
					))}
				</Stack>
				<section aria-label="Changes">
					<Title order={3} mb="xs">
						Changes
					</Title>
					<AuditChanges entry={entry} />
				</section>
				<Group gap="xs">
					{importId && (
						<Button
							size="xs"
							variant="default"
							onClick={() => onFilter({ import_id: importId })}
						>
							All records of this import
						</Button>
					)}
					{record_id && (
						<Button
							size="xs"
							variant="default"
							onClick={() => onFilter({ record_id })}
						>
							All entries about this record
						</Button>
					)}
					{actor_id && (
						<Button
							size="xs"
							variant="default"
							onClick={() => onFilter({ actor_id })}
						>
							All entries by {actor_name}
						</Button>
					)}
					{token_id && (
						<Button
							size="xs"
							variant="default"
							onClick={() => onFilter({ token_id })}
						>
							All entries with this token
						</Button>
					)}
				</Group>
				<Text size="xs" c="dimmed" component="div">
					Called as <Code>{entry.operation}</Code>. Hash of the entry:{" "}
					<Code style={{ overflowWrap: "anywhere" }}>{entry.hash}</Code>
				</Text>
			</Stack>
		</Drawer>
	);
}
