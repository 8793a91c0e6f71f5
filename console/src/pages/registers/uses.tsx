import { Group, Paper, Text, Title } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import type { InputOf } from "../../api.ts";
import { kinds } from "../../kinds.ts";
import { TextLink } from "../../parts/links.tsx";
import { operationQuery } from "../../queries.ts";
import { findRegisterKind, type RegisterKind } from "../../register-kinds.ts";
import { type RecordsPage, recordsQuery } from "./register-calls.ts";

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

/** How many are counted; beyond, there are "100 or more". */
const COUNTED = 100;

/** Leads to the records that name this one, with their number; nothing where there are none. */
export function WhereUsed({ kind, id, organizationId }: OfRecord) {
	const found = useQueries({
		queries: usesOf(kind).map((use) => {
			const other = kinds.find((known) => known.kind === use.kind);
			if (!other) throw new Error(`there is no kind ${use.kind}`);
			return {
				...recordsQuery(other, {
					organization_id: organizationId,
					size: COUNTED,
					filter: { [use.filter]: id },
				}),
				select: ({ records, next_cursor }: RecordsPage) => ({
					use,
					count: records.length,
					isMore: next_cursor !== null,
				}),
			};
		}),
		combine: (results) => results.flatMap(({ data }) => data ?? []),
	}).filter(({ count }) => count > 0);
	const devices = useQuery({
		...operationQuery("listDevices", {
			organization_id: organizationId,
			size: COUNTED,
			filter: { owner_id: id },
		} as InputOf<"listDevices">),
		enabled: kind === "people",
	}).data;
	const owned = devices?.devices.length ?? 0;
	if (found.length === 0 && owned === 0) return null;
	const title =
		kind === "people" ? "What this person answers for" : "Where it is used";
	return (
		<Paper withBorder p="lg" component="section" aria-label={title}>
			<Title order={2} mb="xs">
				{title}
			</Title>
			<Group gap="md">
				{found.map(({ use, count, isMore }) => (
					<Group key={use.kind + use.filter} gap={6}>
						<UseLink use={use} id={id} organizationId={organizationId} />
						<Count count={count} isMore={isMore} />
					</Group>
				))}
				{owned > 0 && (
					<Group gap={6}>
						<TextLink
							to="/o/$org/devices"
							params={{ org: organizationId }}
							search={{ owner_id: id }}
						>
							Devices
						</TextLink>
						<Count count={owned} isMore={devices?.next_cursor !== null} />
					</Group>
				)}
			</Group>
		</Paper>
	);
}

function Count({ count, isMore }: { count: number; isMore: boolean }) {
	return (
		<Text span size="sm" c="dimmed">
			{isMore ? `${count} or more` : count}
		</Text>
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
