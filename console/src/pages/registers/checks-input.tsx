import { MultiSelect, Select, Stack, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { CHECK_KEYS } from "../../../../src/devices/terms.ts";
import type { KindDescription } from "../../kind-description.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { recordQuery } from "../../parts/records/register-calls.ts";
import { operationQuery } from "../../queries.ts";

interface Common {
	label: string;
	description: string | undefined;
	required: boolean;
	error: ReactNode;
	organizationId: string;
	"data-path"?: string;
}

/** Returns the checks that the device policy knows, and those that are chosen already. */
function useChoices(organizationId: string, chosen: readonly string[]) {
	const { data } = useQuery(
		operationQuery("getDevicePolicy", { organization_id: organizationId }),
	);
	const known = data?.policy.checks.map(({ check_key }) => check_key) ?? [];
	return [...new Set([...CHECK_KEYS, ...known, ...chosen])].map((value) => ({
		value,
		label: checkLabel(value),
	}));
}

/** Asks for one device check, or none. */
export function CheckInput({
	organizationId,
	value,
	onChange,
	...rest
}: Common & { value: string; onChange: (value: string | null) => void }) {
	const choices = useChoices(organizationId, value ? [value] : []);
	return (
		<Select
			{...rest}
			data={choices}
			value={value || null}
			onChange={onChange}
			placeholder="None"
			clearable
			clearButtonProps={clearButton(`Clear ${rest.label}`)}
			searchable
			maxDropdownHeight={280}
		/>
	);
}

/**
 * Asks for device checks, after a switch. While the switch is off, the value is null: nobody has
 * chosen, and the field shows what counts without a choice. A choice begins with these checks.
 */
export function ChecksInput({
	organizationId,
	name,
	kind,
	recordId,
	value,
	onChange,
	label,
	...rest
}: Common & {
	name: string;
	kind: KindDescription;
	recordId: string | undefined;
	value: string[] | null;
	onChange: (value: string[] | null) => void;
}) {
	const { data: record } = useQuery({
		...recordQuery(kind, recordId ?? ""),
		enabled: recordId !== undefined,
	});
	// The checks of the record follow from a choice, if there is one already.
	const isAutomatic = record?.[name] === null;
	const automatic = isAutomatic ? (record.checks as string[]) : [];
	const shown = value ?? automatic;
	const choices = useChoices(organizationId, shown);
	const id = useId();
	return (
		<Stack gap="xs">
			<Switch
				label="Choose the checks yourself"
				checked={value !== null}
				aria-controls={id}
				onChange={({ currentTarget }) =>
					onChange(currentTarget.checked ? shown : null)
				}
			/>
			<MultiSelect
				{...rest}
				id={id}
				label={label}
				data={choices}
				disabled={value === null}
				value={shown}
				onChange={onChange}
				placeholder={value?.length === 0 ? "No check" : ""}
				searchable
				clearable
				clearButtonProps={clearButton(`Clear ${label}`)}
				nothingFoundMessage="No check matches"
			/>
		</Stack>
	);
}
