import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import {
	type ComponentProps,
	type FormEvent,
	type KeyboardEvent,
	memo,
	useCallback,
	useEffect,
	useMemo,
	useRef,
	useState,
} from "react";
import { isScale } from "../../../../src/records/scales.ts";
import type { ApiError } from "../../api.ts";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { Columns } from "../../parts/columns.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useLeaveGuard } from "../../parts/leave-guard.tsx";
import { factorsOf } from "../../parts/records/risk-scores.ts";
import { ScoreBadge } from "../../parts/records/score-badge.tsx";
import { NOT_DECIDED_CHOICE } from "../../parts/records/undecided.ts";
import { applyServerErrors } from "../../parts/server-errors.ts";
import { unfinishedDates } from "../../parts/unfinished-dates.ts";
import { refusalOf } from "../../parts/use-saving.ts";
import { isMeaningful, sectionsOf } from "../../register-layouts.ts";
import { FieldInput } from "./field-input.tsx";
import { FormHints, scoreHints } from "./form-hints.tsx";
import { type FormValue, type FormValues, givenFields } from "./form-values.ts";
import type { Hint } from "./hints.ts";
import { askForValue, inWordsOf } from "./messages.ts";

/**
 * Asks for the fields of a record. The first one gets the focus. An error from the server is shown
 * beside the field that it names.
 */
export function RecordForm({
	kind,
	organizationId,
	initial,
	action,
	id,
	isNew = false,
	onSave,
	onCancel,
}: {
	kind: KindDescription;
	organizationId: string;
	initial: FormValues;
	/** The label of the button, such as "Add the risk". */
	action: string;
	/** The id of the record that is edited. */
	id?: string | undefined;
	/**
	 * True for a new record. The field that describes the record is then required.
	 */
	isNew?: boolean;
	/** Saves the values and then calls `leave`, which leaves the page. Throws ApiError. */
	onSave: (values: FormValues, leave: () => void) => Promise<void>;
	onCancel: () => void;
}) {
	const form = useForm<FormValues>({ initialValues: initial });
	const { setFieldValue } = form;
	const isUndecided = initial.treatment === NOT_DECIDED_CHOICE.value;
	const sections = useMemo(
		() =>
			sectionsOf(kind).map(({ title, fields }) => ({
				title,
				fields: fields.map((field) =>
					isUndecided && field.name === "treatment"
						? withNotDecided(field)
						: isNew && isToSay(kind, field.name)
							? { ...field, given: "required" as const }
							: field,
				),
			})),
		[kind, isUndecided, isNew],
	);
	const [refusal, setRefusal] = useState<ApiError | null>(null);
	const isSaved = useRef(false);
	const isBusy = useRef(false);
	const saving = useMutation({
		mutationFn: (values: FormValues) =>
			onSave(values, () => {
				isSaved.current = true;
			}),
		onError: (error) => {
			const rest = applyServerErrors(
				form,
				error,
				givenFields(kind).map(({ name }) => name),
				(text, field) => inWordsOf(kind, text, field),
			);
			setRefusal(rest ? refusalOf(error, rest) : null);
		},
		onSettled: () => {
			isBusy.current = false;
		},
	});
	const submit = (event: FormEvent<HTMLFormElement>) => {
		event.preventDefault();
		setRefusal(null);
		const unfinished = unfinishedDates(event.currentTarget);
		const missing = {
			...missingValues(kind, form.getValues()),
			...(isNew ? unsaid(kind, form.getValues()) : {}),
			...unfinished,
		};
		form.setErrors(missing);
		const [first] = Object.keys(missing);
		if (first) return form.getInputNode(first)?.focus();
		if (isBusy.current) return;
		isBusy.current = true;
		saving.mutate(form.getValues());
	};
	const element = useRef<HTMLFormElement>(null);
	const question = useLeaveGuard({
		area: element,
		isNeeded: () => form.isDirty() && !isSaved.current,
		isSaving: saving.isPending,
	});
	useEffect(() => {
		element.current
			?.querySelector<HTMLElement>("input:not([type=hidden]), textarea")
			?.focus();
	}, []);
	return (
		<form
			ref={element}
			onSubmit={submit}
			onKeyDown={submitFromTexts}
			noValidate
		>
			<Stack>
				{sections.map(({ title, fields }) => (
					<Paper
						key={title}
						withBorder
						p="lg"
						component="section"
						aria-label={title}
					>
						<Title order={2} mb="md">
							{title}
						</Title>
						<Columns
							cols={{ base: 1, md: isWideSection(fields) ? 1 : 2 }}
							spacing="lg"
						>
							{fields
								.filter(({ name }) => isMeaningful(name, form.values))
								.map((field) => (
									<div
										key={field.name}
										style={isWide(field) ? { gridColumn: "1 / -1" } : {}}
									>
										{field.given === "computed" ? (
											<ComputedScore
												field={field}
												values={form.values}
												hints={
													form.isDirty()
														? scoreHints(kind, form.values, field.name)
														: []
												}
											/>
										) : (
											<OneField
												field={field}
												organizationId={organizationId}
												kind={kind}
												recordId={id}
												value={form.values[field.name] ?? null}
												onChange={setFieldValue}
												error={form.errors[field.name]}
											/>
										)}
									</div>
								))}
						</Columns>
					</Paper>
				))}
				{form.isDirty() && (
					<FormHints
						kind={kind}
						organizationId={organizationId}
						values={form.values}
						id={id}
					/>
				)}
				{refusal && <ErrorState error={refusal} title="Not saved" />}
				<Group justify="flex-end">
					<Button variant="default" onClick={onCancel}>
						Cancel
					</Button>
					<Button type="submit" loading={saving.isPending}>
						{action}
					</Button>
				</Group>
			</Stack>
			{question}
		</form>
	);
}

/**
 * Renders only again when its own value or error changes. Otherwise each key would render all fields
 * of the form.
 */
const OneField = memo(function OneField({
	onChange,
	...props
}: Omit<ComponentProps<typeof FieldInput>, "onChange"> & {
	onChange: (name: string, value: FormValue) => void;
}) {
	const { name } = props.field;
	const change = useCallback(
		(value: FormValue) => onChange(name, value),
		[onChange, name],
	);
	return <FieldInput {...props} onChange={change} data-path={name} />;
});

/** Adds the choice that leaves open how a suggested risk is treated, so that nobody has to decide. */
const withNotDecided = (field: FieldDescription): FieldDescription => ({
	...field,
	choices: [NOT_DECIDED_CHOICE, ...(field.choices ?? [])],
});

/** Returns true for a long text or a scale, which takes a whole line. */
function isWide(field: FieldDescription): boolean {
	const { type, given } = field;
	return (
		type === "text" ||
		type === "references" ||
		isScale(field) ||
		given === "computed"
	);
}

function isWideSection(fields: readonly FieldDescription[]): boolean {
	return fields.every(isWide);
}

/**
 * Shows the product of a likelihood and an impact. A residual factor that is empty counts as equal
 * to the inherent one.
 */
function ComputedScore({
	field,
	values,
	hints,
}: {
	field: FieldDescription;
	values: FormValues;
	hints: readonly Hint[];
}) {
	const [likelihood, impact] = (factorsOf(field.name) ?? []).map(
		(name) =>
			values[name] ?? values[name.replace("residual", "inherent")] ?? null,
	);
	const isKnown = typeof likelihood === "number" && typeof impact === "number";
	return (
		<Group gap="xs" aria-live="polite">
			<Text size="sm" fw={500}>
				{field.label}
			</Text>
			{isKnown ? (
				<>
					<ScoreBadge score={likelihood * impact} />
					<Text size="sm" c="dimmed">
						{likelihood} × {impact}
					</Text>
				</>
			) : (
				<Text size="sm" c="dimmed">
					Choose a likelihood and an impact
				</Text>
			)}
			{hints.map(({ text }) => (
				<Group key={text} gap={6} wrap="nowrap">
					<IconAlertTriangle
						size={16}
						aria-hidden
						style={{ flexShrink: 0 }}
						color="var(--mantine-color-orange-8)"
					/>
					<Text size="sm">{text}</Text>
				</Group>
			))}
		</Group>
	);
}

/** Returns errors for required fields without a value, in the order of the form. */
function missingValues(kind: KindDescription, values: FormValues) {
	const isMissing = ({ given, name }: FieldDescription) =>
		given === "required" && !String(values[name] ?? "").trim();
	return Object.fromEntries(
		sectionsOf(kind)
			.flatMap(({ fields }) => fields)
			.filter(isMissing)
			.map((field) => [field.name, askForValue(field)]),
	);
}

/**
 * Returns true for a field that the form requires of a new record. The tools accept an empty
 * description, but then nobody would know what the record is about.
 */
function isToSay({ kind }: KindDescription, field: string): boolean {
	return (
		field === "description" &&
		(kind === "nonconformity" || kind === "continual_improvement")
	);
}

/** Returns an error for a missing description. */
function unsaid(kind: KindDescription, { description }: FormValues) {
	const isEmpty = typeof description === "string" && !description.trim();
	return isToSay(kind, "description") && isEmpty
		? { description: "Enter a short description." }
		: {};
}

/**
 * Submits the form from a text of several lines with Ctrl or ⌘ and Enter. Enter alone starts a new
 * line there.
 */
function submitFromTexts(event: KeyboardEvent<HTMLFormElement>) {
	// React also reports the keys of a dialog that a field of the form has opened.
	if (!event.currentTarget.contains(event.target as Node)) return;
	if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
		event.preventDefault();
		event.currentTarget.requestSubmit();
	}
}
