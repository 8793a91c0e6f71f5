import { toolsets } from "virtual:toolsets";
import { Checkbox, MultiSelect, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { InputOf } from "../../api.ts";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { toolsetLabel } from "../../parts/toolset-label.ts";
import { organizationsQuery } from "../../queries.ts";

interface ScopeValues {
	read_only: boolean;
	organization_ids: string[];
	toolsets: string[];
}

export const unlimited: ScopeValues = {
	read_only: false,
	organization_ids: [],
	toolsets: [],
};

/** Asks how much of its user's rights a token gets. An empty field sets no limit. */
export function ScopeFields<Values extends ScopeValues>({
	form,
}: {
	form: UseFormReturnType<Values>;
}) {
	const { data: organizations = [] } = useQuery(organizationsQuery);
	return (
		<>
			<Checkbox
				label={FIELD_LABELS.api_token.read_only}
				description="The token can read records and cannot change anything. Choose this for an AI client that only answers questions."
				{...form.getInputProps("read_only", { type: "checkbox" })}
			/>
			{organizations.length > 1 && (
				<MultiSelect
					label="Organizations"
					placeholder={
						form.values.organization_ids.length === 0
							? "All your organizations"
							: undefined
					}
					data={organizations.map(({ id, name }) => ({
						value: id,
						label: name,
					}))}
					searchable
					clearable
					{...form.getInputProps("organization_ids")}
				/>
			)}
			<MultiSelect
				label={FIELD_LABELS.api_token.toolsets}
				description={
					form.values.read_only && "A read-only token can only read with them."
				}
				placeholder={
					form.values.toolsets.length === 0 ? "All tools" : undefined
				}
				data={toolsets.map(({ name }) => ({
					value: name,
					label: toolsetLabel(name),
				}))}
				renderOption={({ option }) => (
					<Toolset {...option} isReadOnly={form.values.read_only} />
				)}
				searchable
				clearable
				{...form.getInputProps("toolsets")}
			/>
		</>
	);
}

const byName = new Map(toolsets.map((toolset) => [toolset.name, toolset]));

function Toolset({
	value,
	label,
	isReadOnly,
}: {
	value: string;
	label: string;
	isReadOnly: boolean;
}) {
	const toolset = byName.get(value);
	const text = isReadOnly
		? (toolset?.reading ?? "Nothing: none of these tools only reads.")
		: toolset?.description;
	return (
		<div>
			<Text size="sm">{label}</Text>
			{/* A dimmed text could not be read on the color of the active option. */}
			<Text size="xs">{text}</Text>
		</div>
	);
}

export function scopesOf({
	read_only,
	organization_ids,
	toolsets: chosen,
}: ScopeValues): Partial<InputOf<"createApiToken">> {
	return {
		read_only,
		organization_ids: organization_ids.length > 0 ? organization_ids : null,
		toolsets: chosen.length > 0 ? chosen : null,
	};
}
