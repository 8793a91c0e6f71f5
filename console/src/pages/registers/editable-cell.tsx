import { Button, Group, Popover, Stack, Text } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { type AnyRecord, titleOf } from "../../kinds.ts";
import { sentenceOf } from "../../parts/error-state.tsx";
import { updateRecord } from "../../parts/records/register-calls.ts";
import { forgetReadings } from "../../queries.ts";
import classes from "./editable-cell.module.css";
import { FieldInput } from "./field-input.tsx";
import { type FormValue, toFormValue, toStored } from "./form-values.ts";

interface Props {
	kind: KindDescription;
	field: FieldDescription;
	record: AnyRecord;
}

/**
 * A cell of a list whose value can be changed in place. The button appears under the pointer and
 * with the focus; on a touch screen it is always there. The value stays ordinary text that the
 * reader can select.
 */
export function EditableCell({
	children,
	...props
}: Props & { children: ReactNode }) {
	const [isOpen, setOpen] = useState(false);
	const button = useRef<HTMLButtonElement>(null);
	const { field, kind, record } = props;
	const change = `Change ${field.label} of ${titleOf(kind, record)}`;
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};
	return (
		<Group gap={4} wrap="nowrap" className={classes.cell}>
			{children}
			<button
				ref={button}
				type="button"
				className={`mantine-focus-auto ${classes.button}`}
				data-open={isOpen || undefined}
				aria-haspopup="dialog"
				aria-expanded={isOpen}
				aria-label={change}
				onClick={() => setOpen(!isOpen)}
			>
				<IconPencil size={14} aria-hidden />
			</button>
			{/* A list would take much longer to appear if each cell had a closed popover. */}
			{isOpen && (
				<Popover
					opened
					// The button has these roles. The anchor only gives the position.
					withRoles={false}
					onDismiss={close}
					// The options of a picker lie outside the popover, and a click on one is not a click away.
					closeOnClickOutside={false}
					trapFocus
					position="bottom-start"
				>
					<Popover.Target>
						<span className={classes.anchor} />
					</Popover.Target>
					<Popover.Dropdown role="dialog" aria-label={change}>
						<Editor {...props} onDone={close} />
					</Popover.Dropdown>
				</Popover>
			)}
		</Group>
	);
}

function Editor({
	kind,
	field,
	record,
	onDone,
}: Props & { onDone: () => void }) {
	const [value, setValue] = useState<FormValue>(
		toFormValue(field, record[field.name]),
	);
	const saving = useMutation({
		mutationFn: () =>
			updateRecord(kind, record.id, {
				[field.name]: toStored(field, value),
				// Somebody else may have changed the record since the list was loaded.
				if_updated_at: record.updated_at,
			}),
		onSuccess: async () => {
			await forgetReadings();
			onDone();
		},
		onError: forgetReadings,
	});
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				saving.mutate();
			}}
		>
			<Stack gap="sm" w={260}>
				<FieldInput
					field={field}
					organizationId={record.organization_id}
					kind={kind}
					value={value}
					onChange={setValue}
				/>
				{saving.isError && (
					<Text size="sm" c="var(--mantine-color-error)" role="alert">
						{sentenceOf(saving.error)}
					</Text>
				)}
				<Group justify="flex-end" gap="xs">
					<Button variant="default" size="compact-md" onClick={onDone}>
						Cancel
					</Button>
					<Button type="submit" size="compact-md" loading={saving.isPending}>
						Save
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
