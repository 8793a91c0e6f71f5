import { Group, Text } from "@mantine/core";
import {
	type Icon,
	IconDeviceLaptop,
	IconKey,
	IconLink,
	IconTerminal2,
	IconUser,
} from "@tabler/icons-react";
import { kinds } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import {
	actionTitle,
	type Entry,
	groupedActions,
} from "../../parts/audit-actions/audit-actions.ts";
import { linkUserOf } from "../../parts/audit-actions/by-link.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { RecordLink } from "../../parts/records/record-link.tsx";
import type { Names } from "../../parts/records/record-names.ts";

/**
 * The value of a field before and after a change. One of the two is absent if the record is new or
 * was deleted.
 */
export type Ends = { before?: unknown; after?: unknown };

export const ACTORS: Record<
	Entry["actor_kind"],
	{ label: string; icon: Icon }
> = {
	USER: { label: "User", icon: IconUser },
	TOKEN: { label: "API token", icon: IconKey },
	AGENT: { label: "Agent", icon: IconDeviceLaptop },
	SYSTEM: { label: "System", icon: IconTerminal2 },
};

/**
 * Shows who acted, and with which kind of credential. `names` has the people who acted by a link.
 */
export function Actor({ entry, names }: { entry: Entry; names: Names }) {
	const { organizationId } = useOrganization();
	const byLink = linkUserOf(entry);
	const { icon: Shape, label } = byLink
		? {
				icon: IconLink,
				label: byLink.isCopied ? "By a copied link" : "By a link",
			}
		: ACTORS[entry.actor_kind];
	const { personId } = byLink ?? {};
	const person = personId && names.get(personId);
	return (
		<Group gap={8} wrap="nowrap" align="flex-start">
			<Shape size={16} aria-hidden style={{ flex: "none", marginTop: 3 }} />
			<div>
				<Text size="sm" component="div">
					{person ? (
						<RecordLink
							organizationId={organizationId}
							kind="people"
							id={personId}
						>
							{person}
						</RecordLink>
					) : (
						entry.actor_name
					)}
				</Text>
				<Text size="xs" c="dimmed" lineClamp={2}>
					{label}
					{entry.token_name && `: ${entry.token_name}`}
				</Text>
			</div>
		</Group>
	);
}

/** The actions that the log may contain, as options of the filter. */
export const actionGroups = [
	{
		group: "Records",
		items: kinds.flatMap(({ tool }) =>
			["add", "update", "delete"].map((verb) => action(`${verb}${tool.one}`)),
		),
	},
	...groupedActions().map(({ group, names }) => ({
		group,
		items: names.map(action),
	})),
];

export const kindOptions = [
	...kinds.map(({ kind, noun }) => ({ value: kind, label: inWords(noun) })),
	...[
		"device",
		"import",
		"organization",
		"member",
		"invitation",
		"api_token",
		"user",
	].map(choice),
];

function action(value: string) {
	return { value, label: actionTitle(value) };
}

function choice(value: string) {
	return { value, label: inWords(value) };
}

/** Returns the label of a kind of record that the log mentions. */
export function kindLabel(kind: string): string {
	return (
		kindOptions.find(({ value }) => value === kind)?.label ?? inWords(kind)
	);
}

export function endsOf({ changes }: Entry): [string, Ends][] {
	const all = Object.entries(changes) as [string, Ends][];
	return all.filter(
		([, ends]) =>
			!("before" in ends && "after" in ends) ||
			JSON.stringify(ends.before) !== JSON.stringify(ends.after),
	);
}
