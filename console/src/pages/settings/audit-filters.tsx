import { Button, type ComboboxData, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import type { ListControls } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import type { Entry } from "../../parts/audit-actions/audit-actions.ts";
import { linkUserIds } from "../../parts/audit-actions/by-link.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { dayOf, endOfDay, startOfDay } from "../../parts/days.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { namedFilter } from "../../parts/filter-width.ts";
import { FoldedFilters } from "../../parts/folded-filters.tsx";
import { Picker } from "../../parts/picker.tsx";
import type { Names } from "../../parts/records/record-names.ts";
import { operationQuery } from "../../queries.ts";
import { ACTORS, actionGroups, kindOptions } from "./audit-filter-choices.tsx";

const actorOptions = Object.entries(ACTORS).map(([value, { label }]) => ({
	value,
	label,
}));
const OUTCOMES = [
	{ value: "DONE", label: "Done" },
	{ value: "REFUSED", label: "Denied" },
];

/**
 * Shows the filters of the audit log. `rows` are the entries on the page; they contain the names of
 * actors who are no longer members.
 */
export function AuditFilters({
	list,
	rows,
	names,
}: {
	list: ListControls;
	rows: readonly Entry[];
	/** The names of the people who acted by a link. */
	names: Names;
}) {
	const { filters, setFilter } = list;
	const [isMore, setMore] = useState(false);
	const of = (name: string) => {
		const value = filters[name];
		return typeof value === "string" ? value : null;
	};
	const actors = useActors(of("actor_id"), rows, names);
	const choice = (
		name: string,
		label: string,
		data: ComboboxData,
		width: number,
	) => (
		<Picker
			data={data}
			value={of(name)}
			onChange={(value) => setFilter(name, value ?? undefined)}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			{...namedFilter(label, width)}
		/>
	);
	const from = of("from");
	const until = of("until");
	const day = (
		name: string,
		label: string,
		value: string,
		toMoment: (day: string) => string,
	) => (
		<TextInput
			type="date"
			aria-label={label}
			leftSection={
				<Text span size="xs" aria-hidden>
					{label}
				</Text>
			}
			leftSectionWidth={44}
			w={184}
			value={value}
			onChange={({ currentTarget }) =>
				setFilter(
					name,
					currentTarget.value ? toMoment(currentTarget.value) : undefined,
				)
			}
		/>
	);
	return (
		<FoldedFilters list={list}>
			{choice("actor_id", "Actor", actors, 120)}
			{choice("operation", "Action", actionGroups, 130)}
			{choice("record_kind", "Kind of record", kindOptions, 146)}
			{(isMore || filters.actor_kind !== undefined) &&
				choice("actor_kind", "Kind of actor", actorOptions, 140)}
			{(isMore || filters.outcome !== undefined) &&
				choice("outcome", "Outcome", OUTCOMES, 120)}
			{(isMore || from !== null) &&
				day("from", "From", from ? dayOf(new Date(from)) : "", startOfDay)}
			{(isMore || until !== null) &&
				day(
					"until",
					"Until",
					until ? dayOf(new Date(Date.parse(until) - 1)) : "",
					endOfDay,
				)}
			<Button
				variant="default"
				px="sm"
				aria-expanded={isMore}
				aria-label={isMore ? "Fewer filters" : "More filters"}
				onClick={() => setMore(!isMore)}
			>
				{isMore ? "Fewer" : "More"}
			</Button>
			<Chosen
				name="record_id"
				label={`Record: ${rows.find(({ record_id }) => record_id === of("record_id"))?.record_name ?? "one"}`}
				list={list}
			/>
			<Chosen name="import_id" label="Records of one import" list={list} />
			<Chosen name="is_imported" label="Records of all imports" list={list} />
			<Chosen
				name="token_id"
				label={`Token: ${rows.find(({ token_id }) => token_id === of("token_id"))?.token_name ?? "one"}`}
				list={list}
			/>
		</FoldedFilters>
	);
}

/** Shows a filter that was set by clicking in an entry or a link. The reader can only remove it. */
function Chosen({
	name,
	label,
	list,
}: {
	name: string;
	label: string;
	list: ListControls;
}) {
	if (list.filters[name] === undefined) return null;
	return (
		<FilterChip
			label={label}
			remove={`Remove the filter: ${label}`}
			onRemove={() => list.setFilter(name, undefined)}
		/>
	);
}

/**
 * Returns the members, the people on the page who acted by a link, and the actor in the address if
 * that is somebody else.
 */
function useActors(
	chosen: string | null,
	rows: readonly Entry[],
	names: Names,
) {
	const { organizationId } = useOrganization();
	const { data } = useQuery(
		operationQuery("listMembers", {
			organization_id: organizationId,
			order_by: { field: "name" },
			size: MAX_PAGE_SIZE,
		}),
	);
	const known = [
		...(data?.members ?? []).map(({ user_id, name }) => ({
			value: user_id,
			label: name,
		})),
		...[...new Set(linkUserIds(rows))].flatMap((id) => {
			const name = names.get(id);
			return name ? [{ value: id, label: `${name}, by a link` }] : [];
		}),
	];
	if (!chosen || known.some(({ value }) => value === chosen)) return known;
	const name = rows.find(({ actor_id }) => actor_id === chosen)?.actor_name;
	return [...known, { value: chosen, label: name ?? "Somebody else" }];
}
