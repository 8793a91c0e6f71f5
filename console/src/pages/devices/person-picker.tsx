import { Select, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { operationQuery } from "../../queries.ts";
import { CreatePerson } from "./create-person.tsx";
import { useRecordNames } from "./owner-names.ts";

const TYPING_MS = 200;
const CREATE = "create a person";

interface Option {
	value: string;
	label: string;
}

/**
 * A field for one of the organization's people, found by typing. Who may write can make a
 * person that is not there yet.
 */
export function PersonPicker({
	value,
	onChange,
	others = [],
	mayCreate = false,
	...field
}: {
	value: string | null;
	/** Null: the field was cleared. */
	onChange: (value: string | null) => void;
	/** Choices beside the people. */
	others?: readonly Option[];
	mayCreate?: boolean;
	label?: string;
	"aria-label"?: string;
	placeholder?: string;
	description?: ReactNode;
	error?: ReactNode;
	w?: number | string;
}) {
	const { organizationId } = useOrganization();
	const [search, setSearch] = useState("");
	const [isCreating, setCreating] = useState(false);
	const isOther = others.some((option) => option.value === value);
	const chosen = useRecordNames([isOther ? null : value]).get(value ?? "");
	// The field shows the chosen name, which is no search.
	const typed = search.trim() === chosen ? "" : search.trim();
	const [query] = useDebouncedValue(typed, TYPING_MS);
	const found = useQuery({
		...operationQuery("listPeople", {
			organization_id: organizationId,
			size: 20,
			order_by: { field: "full_name" },
			...(query ? { filter: { query } } : {}),
		}),
		placeholderData: keepPreviousData,
	});
	const people = found.data?.people ?? [];
	const emails = new Map(
		people.map(({ id, primary_email_address }) => [id, primary_email_address]),
	);
	const options: Option[] = [
		...others,
		...people.map(({ id, full_name }) => ({ value: id, label: full_name })),
	];
	if (value && !options.some((option) => option.value === value)) {
		options.push({ value, label: chosen ?? "…" });
	}
	if (mayCreate) {
		options.push({
			value: CREATE,
			label: typed ? `Create “${typed}”` : "Create a person",
		});
	}
	return (
		<>
			<Select
				{...field}
				data={options}
				value={value}
				onChange={(picked) =>
					picked === CREATE ? setCreating(true) : onChange(picked)
				}
				searchable
				clearable
				allowDeselect={false}
				clearButtonProps={{ "aria-label": "Clear the owner" }}
				searchValue={search}
				onSearchChange={setSearch}
				// The server has searched.
				filter={({ options }) => options}
				nothingFoundMessage={
					found.isError ? "People could not be loaded" : "Nobody found"
				}
				renderOption={({ option }) => (
					<div>
						<Text size="sm" {...(option.value === CREATE ? { fw: 500 } : {})}>
							{option.label}
						</Text>
						{emails.has(option.value) && (
							<Text size="xs" c="dimmed">
								{emails.get(option.value)}
							</Text>
						)}
					</div>
				)}
			/>
			{isCreating && (
				<CreatePerson
					name={typed}
					onClose={() => setCreating(false)}
					onCreated={(id) => {
						setCreating(false);
						onChange(id);
					}}
				/>
			)}
		</>
	);
}
