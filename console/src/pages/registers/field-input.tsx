import {
	Group,
	NumberInput,
	Radio,
	TagsInput,
	Textarea,
	TextInput,
} from "@mantine/core";
import type { ReactNode } from "react";
import type { FieldType } from "../../../../src/records/field.ts";
import { isScale, stepsOf } from "../../../../src/records/scales.ts";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { MultiPicker, Picker } from "../../parts/picker.tsx";
import { isPercent } from "../../parts/records/field-value.tsx";
import {
	ReferenceField,
	ReferencesField,
} from "../../parts/records/reference-field.tsx";
import { CheckInput, ChecksInput } from "./checks-input.tsx";
import { helpBeside } from "./field-help.ts";
import type { FormValue } from "./form-values.ts";
import { SuggestedInput } from "./suggested-input.tsx";

/** Renders the control that suits the type of a field. */
export function FieldInput({
	field,
	organizationId,
	kind,
	recordId,
	value,
	onChange,
	error,
	...rest
}: {
	field: FieldDescription;
	organizationId: string;
	/** The register of the record. Its lists offer the values in use as a filter. */
	kind: KindDescription;
	/** The id of the record that is edited. */
	recordId?: string | undefined;
	value: FormValue;
	onChange: (value: FormValue) => void;
	error?: ReactNode;
	/** The path by which the form finds the control. */
	"data-path"?: string;
}) {
	const { name, type, label, help, given, reference, choices = [] } = field;
	const isRequired = given === "required";
	const common = {
		...rest,
		label,
		description: helpBeside(label, help, kind.noun),
		required: isRequired,
		error,
	};
	const text = typeof value === "string" ? value : "";
	const list = Array.isArray(value) ? value : [];

	switch (type) {
		case "name":
			return kind.filters.some((filter) => filter.name === name) ? (
				<SuggestedInput
					{...common}
					name={name}
					organizationId={organizationId}
					onChange={onChange}
					kind={kind.kind}
					value={text}
				/>
			) : (
				<TextInput
					{...common}
					value={text}
					onChange={({ currentTarget }) => onChange(currentTarget.value)}
				/>
			);
		case "text":
			return (
				<Textarea
					{...common}
					autosize
					minRows={3}
					maxRows={16}
					value={text}
					onChange={({ currentTarget }) => onChange(currentTarget.value)}
				/>
			);
		case "choice":
			return (
				<Picker
					{...common}
					data={[...choices]}
					value={text || null}
					onChange={onChange}
					allowDeselect={false}
					placeholder="Choose one"
					maxDropdownHeight={280}
				/>
			);
		case "integer":
			return isScale(field) ? (
				<Scale
					{...common}
					steps={stepsOf(name)}
					value={typeof value === "number" ? value : null}
					onChange={onChange}
				/>
			) : (
				<NumberInput
					{...common}
					suffix={isPercent(field) ? "%" : ""}
					value={typeof value === "number" ? value : text}
					onChange={(given) => onChange(given === "" ? null : given)}
					// The control keeps a number that is out of range, and the server says what is wrong with
					// it.
					clampBehavior="none"
				/>
			);
		case "reference":
			return reference ? (
				<ReferenceField
					{...common}
					organizationId={organizationId}
					kind={reference}
					placeholder={
						reference === "people"
							? "Choose or type a name"
							: "Choose or type to search"
					}
					clearable={!isRequired}
					value={text || null}
					onChange={onChange}
				/>
			) : null;
		case "references":
			return reference ? (
				<ReferencesField
					{...common}
					organizationId={organizationId}
					kind={reference}
					placeholder={list.length === 0 ? "Choose or type to search" : ""}
					value={list}
					onChange={onChange}
				/>
			) : null;
		case "countries":
			return (
				<MultiPicker
					{...common}
					searchable
					clearable
					clearButtonProps={clearButton(`Clear ${label}`)}
					data={[...choices]}
					limit={50}
					nothingFoundMessage="No country matches"
					placeholder={list.length === 0 ? "Type to search" : ""}
					value={list}
					onChange={onChange}
				/>
			);
		case "check":
			return (
				<CheckInput
					{...common}
					organizationId={organizationId}
					value={text}
					onChange={onChange}
				/>
			);
		case "checks":
			return (
				<ChecksInput
					{...common}
					organizationId={organizationId}
					name={name}
					kind={kind}
					recordId={recordId}
					value={Array.isArray(value) ? value : null}
					onChange={onChange}
				/>
			);
		case "names":
		case "emails":
			return (
				<TagsInput
					{...common}
					clearable
					clearButtonProps={clearButton(`Clear ${label}`)}
					placeholder={list.length === 0 ? "Type one, then press Enter" : ""}
					value={list}
					onChange={onChange}
				/>
			);
		default:
			return (
				<TextInput
					{...common}
					type={INPUT_TYPES[type] ?? "text"}
					// Times are shown and stored to the second.
					step={type === "datetime" ? 1 : undefined}
					value={text}
					onChange={({ currentTarget }) => onChange(currentTarget.value)}
				/>
			);
	}
}

/** The types of the browser's own inputs. A field whose type is missing here is plain text. */
const INPUT_TYPES: Partial<Record<FieldType, string>> = {
	url: "url",
	email: "email",
	date: "date",
	datetime: "datetime-local",
};

/** Shows the steps of a scale with the meaning of each. */
function Scale({
	steps,
	value,
	onChange,
	"data-path": path,
	...rest
}: {
	label: string;
	description: string | undefined;
	required: boolean;
	error: ReactNode;
	steps: ReturnType<typeof stepsOf>;
	value: number | null;
	onChange: (value: number) => void;
	"data-path"?: string;
}) {
	return (
		<Radio.Group
			{...rest}
			value={value === null ? null : String(value)}
			onChange={(step) => onChange(Number(step))}
		>
			<Group mt={8} mb={4} gap="md">
				{steps.map((step, index) => (
					<Radio
						key={step.value}
						{...step}
						{...(index === 0 && path ? { "data-path": path } : {})}
					/>
				))}
			</Group>
		</Radio.Group>
	);
}
