import { Group, Paper, Text, Title } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { kinds } from "../../kinds.ts";
import { TextLink } from "../../parts/links.tsx";
import { findRegisterKind, type RegisterKind } from "../../register-kinds.ts";
import { recordsQuery } from "./register-calls.ts";

interface Use {
	kind: RegisterKind;
	/** The filter of the kind's list by which its records are found. */
	filter: string;
	label: string;
}

/** The lists that can be narrowed to the records that name one of this kind. */
export function usesOf(kind: RegisterKind): Use[] {
	return kinds.flatMap((other) =>
		other.filters
			.filter(({ reference }) => reference === kind)
			.map(({ name }) => ({
				kind: other.kind,
				filter: name,
				label: findRegisterKind(other.kind)?.label ?? other.nouns,
			})),
	);
}

interface OfRecord {
	kind: RegisterKind;
	id: string;
	organizationId: string;
}

/** Leads to the records that name this one, whether or not there are any. */
export function WhereUsed({ kind, id, organizationId }: OfRecord) {
	const uses = usesOf(kind);
	if (uses.length === 0) return null;
	const title =
		kind === "people" ? "What this person answers for" : "Where it is used";
	return (
		<Paper withBorder p="lg" component="section" aria-label={title}>
			<Title order={2} mb="xs">
				{title}
			</Title>
			<Group gap="md">
				{uses.map((use) => (
					<UseLink
						key={use.kind + use.filter}
						use={use}
						id={id}
						organizationId={organizationId}
					/>
				))}
				{kind === "people" && (
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={{ owner_id: id }}
					>
						Devices
					</TextLink>
				)}
			</Group>
		</Paper>
	);
}

/** The same, of which there are some: asked when a deletion was refused. */
export function UsedNow({ kind, id, organizationId }: OfRecord) {
	const found = useQueries({
		queries: usesOf(kind).map((use) => {
			const other = kinds.find((known) => known.kind === use.kind);
			if (!other) throw new Error(`there is no kind ${use.kind}`);
			return {
				...recordsQuery(other, {
					organization_id: organizationId,
					size: 1,
					filter: { [use.filter]: id },
				}),
				select: ({ records }: { records: unknown[] }) =>
					records.length > 0 ? use : null,
			};
		}),
		combine: (results) =>
			results.flatMap(({ data }) => (data ? [data as Use] : [])),
	});
	if (found.length === 0) return null;
	return (
		<Group gap="md">
			<Text size="sm">See what uses it:</Text>
			{found.map((use) => (
				<UseLink
					key={use.kind + use.filter}
					use={use}
					id={id}
					organizationId={organizationId}
				/>
			))}
		</Group>
	);
}

function UseLink({
	use: { kind, filter, label },
	id,
	organizationId,
}: {
	use: Use;
	id: string;
	organizationId: string;
}) {
	return (
		<TextLink
			to="/o/$org/r/$kind"
			params={{ org: organizationId, kind }}
			search={{ [filter]: id }}
		>
			{label}
		</TextLink>
	);
}
