import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { memo, useState } from "react";
import { PLATFORM_NAMES } from "../../../../src/devices/terms.ts";
import type { ListControls } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { clearButton } from "../../parts/clear-button.ts";
import {
	COMPLIANT_BY_EXCEPTION,
	isByException,
} from "../../parts/devices/by-exception.ts";
import {
	groupOptions,
	SHOWN_OPTIONS,
	useDeviceGroups,
} from "../../parts/devices/device-groups.ts";
import {
	BY_EXCEPTION,
	CHECK_STATES,
	COMPLIANCES,
	FRESHNESS,
	platformLabel,
	STATUSES,
} from "../../parts/devices/device-words.tsx";
import { outdatedAgents } from "../../parts/devices/outdated-agents.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { namedFilter } from "../../parts/filter-width.ts";
import { FoldedFilters } from "../../parts/folded-filters.tsx";
import { inWords } from "../../parts/names-in-words.ts";
import { Picker } from "../../parts/picker.tsx";
import { PersonFilter } from "../../parts/records/person-filter.tsx";
import type { FilterValue } from "../../relative-filters.ts";
import { checkLabel } from "./checks.ts";
import { summaryQuery } from "./fleet-summary.tsx";

/** Shows the filters of the list, beside the search field. */
export const DeviceFilters = memo(function DeviceFilters({
	list,
	isReady,
}: {
	list: ListControls;
	/** True once the list is there, so that counting the fleet does not delay it. */
	isReady: boolean;
}) {
	const { organizationId, day } = useOrganization();
	const [isMore, setMore] = useState(false);
	const summary = useQuery({
		...summaryQuery(organizationId),
		enabled: isReady,
	});
	const { filters } = list;
	const byException = isByException(filters);
	const groups = useDeviceGroups(organizationId, {
		enabled: isMore || filters.group_id !== undefined,
	});
	const outdated = summary.data && outdatedAgents(summary.data);
	const check = filters.failing_check as string | undefined;
	const checks = new Set(
		summary.data?.checks.map(({ check_key }) => check_key) ?? [],
	);
	if (check) checks.add(check);
	const choice = (
		name: string,
		label: string,
		data: { value: string; label: string }[],
		width: number,
		onChange = (value: string | undefined) => list.setFilter(name, value),
		value = (filters[name] as string | undefined) ?? null,
	) => (
		<Picker
			data={data}
			limit={SHOWN_OPTIONS}
			value={value}
			onChange={(value) => onChange(value ?? undefined)}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			{...namedFilter(label, width)}
		/>
	);
	return (
		<FoldedFilters list={list}>
			{choice("status", "Status", optionsOf(STATUSES), 112)}
			{choice(
				"platform",
				"Platform",
				Object.entries(PLATFORM_NAMES).map(([value, label]) => ({
					value,
					label,
				})),
				118,
			)}
			{choice(
				"failing_check",
				"Fails check",
				[...checks].map((value) => ({ value, label: checkLabel(value) })),
				140,
				// The figures above the list count no revoked device, so the list has none either, unless
				// the reader asks for them.
				(value) =>
					list.setFilters({
						failing_check: value,
						// The chip beside it would go on filtering by the check that is no longer chosen.
						...(check !== undefined &&
							filters.check === check && {
								check: undefined,
								check_state: undefined,
							}),
						...(value && filters.status === undefined && { status: "ACTIVE" }),
					}),
			)}
			{choice(
				"compliance",
				"Compliance",
				optionsOf({ ...COMPLIANCES, [EXCUSED]: BY_EXCEPTION }),
				140,
				(value) =>
					list.setFilters({
						...(byException && { check_state: undefined }),
						...(value === EXCUSED
							? { ...COMPLIANT_BY_EXCEPTION, check: undefined }
							: { compliance: value }),
					}),
				byException ? EXCUSED : undefined,
			)}
			{OTHER_STATES.map(
				([name, label]) =>
					filters[name] !== undefined &&
					!(byException && name === "check_state") && (
						<FilterChip
							key={name}
							label={`${label}: ${otherStateLabel(name, filters)}`}
							remove={`Remove the filter ${label}`}
							onRemove={() =>
								list.setFilters({
									[name]: undefined,
									...(name === "check_state" && { check: undefined }),
								})
							}
						/>
					),
			)}
			<PersonFilter
				list={list}
				name="owner_id"
				label="Owner"
				isNullable
				organizationId={organizationId}
				width={124}
			/>
			{(isMore || filters.freshness !== undefined) &&
				!day &&
				choice("freshness", "Freshness", optionsOf(FRESHNESS), 122)}
			{(isMore || filters.conflict !== undefined) &&
				!day &&
				choice("conflict", "Conflict", CONFLICTS, 130)}
			{groups.length > 0 &&
				(isMore || filters.group_id !== undefined) &&
				choice("group_id", "Group", groupOptions(groups).data, 140)}
			{(isMore || filters.has_claimed_owner !== undefined) && (
				<Picker
					data={CLAIMS}
					value={asText(filters.has_claimed_owner)}
					onChange={(value) =>
						list.setFilter(
							"has_claimed_owner",
							value === null ? undefined : value === "true",
						)
					}
					clearable
					clearButtonProps={clearButton("Clear Claimed owner")}
					{...namedFilter("Claimed owner", 160)}
				/>
			)}
			{isMore && outdated && filters.agent_older_than === undefined && (
				<Button
					variant="default"
					px="sm"
					title={`Agents before ${inPlatformWords(outdated.search.agent_older_than)}`}
					onClick={() => list.setFilters(outdated.search)}
				>
					Agent outdated ({outdated.count.toLocaleString()})
				</Button>
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
		</FoldedFilters>
	);
});

/** The choice of the devices that are compliant by exception, which two filters select. */
const EXCUSED = "COMPLIANT_BY_EXCEPTION";

const CLAIMS = [
	{ value: "true", label: "To be confirmed" },
	{ value: "false", label: "No open claim" },
];

const asText = (value: FilterValue | undefined) =>
	value === undefined ? null : String(value);

const CONFLICTS = [
	{ value: "ANY", label: "Any conflict" },
	{ value: "DUPLICATE_HARDWARE", label: "Duplicate hardware" },
	{ value: "POSSIBLE_CLONE", label: "Possible clone" },
];

/**
 * Filters that have no control of their own, because they are seldom used. Numbers on the home page
 * link to them.
 */
const OTHER_STATES = [
	["reporting", "Reports"],
	["awaits_approval", "Waits for approval"],
	["enrollment_key_id", "Enrolled with"],
	["agent_version", "Agent version"],
	["agent_older_than", "Agent before"],
	["passing_check", "Passes check"],
	["unknown_check", "Unknown check"],
	["check_state", "State"],
] as const;

function otherStateLabel(
	name: (typeof OTHER_STATES)[number][0],
	filters: Record<string, unknown>,
) {
	const value = filters[name];
	if (name === "reporting") return inWords(String(value));
	if (name === "enrollment_key_id") return "one enrollment key";
	if (name === "check_state") return stateInWords(filters);
	if (name === "agent_older_than") return inPlatformWords(String(value));
	if (name === "agent_version") return String(value);
	if (typeof value === "boolean") return value ? "yes" : "no";
	return checkLabel(String(value));
}

/** Returns, for example, "Linux 1.4.0, Windows 1.3.0". */
function inPlatformWords(releases: string): string {
	return releases.replaceAll(/[A-Z]+/g, (name) => platformLabel(name));
}

/** Returns, for example, "Full-disk encryption, past grace or in grace". */
function stateInWords({
	check,
	check_state: state,
	failing_check: shown,
}: Record<string, unknown>) {
	const [first = "", ...others] = [state]
		.flat()
		.map(
			(one) =>
				CHECK_STATES[one as keyof typeof CHECK_STATES] ?? inWords(String(one)),
		);
	const words = [first, ...others.map((one) => one.toLowerCase())];
	const text = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
		words,
	);
	// Another control shows the check that the devices fail.
	return typeof check === "string" && check !== shown
		? `${checkLabel(check)}, ${text.toLowerCase()}`
		: text;
}

function optionsOf(words: Record<string, { label: string }>) {
	return Object.entries(words).map(([value, { label }]) => ({ value, label }));
}
