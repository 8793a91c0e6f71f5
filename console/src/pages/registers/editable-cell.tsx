import { Button, Group, Popover, Stack } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import {
	type FormEvent,
	type MouseEvent,
	type ReactNode,
	useRef,
	useState,
} from "react";
import { titleOf } from "../../kinds.ts";
import { ReferencePicker } from "../../parts/records/reference-picker.tsx";
import { CellChoices } from "./cell-choices.tsx";
import classes from "./editable-cell.module.css";
import { FieldInput } from "./field-input.tsx";
import { type FormValue, toFormValue } from "./form-values.ts";
import { type Cell, NotSaved, useCellSaving } from "./save-cell.tsx";

/**
 * A cell of a list whose value can be changed in place. The button appears under the pointer and
 * with the focus; on a touch screen it is always there. A click on the value does the same. The
 * value stays ordinary text that the reader can select. A choice and a record are saved as soon as
 * they are chosen.
 */
export function EditableCell({
	children,
	...props
}: Cell & { children: ReactNode }) {
	const [isOpen, setOpen] = useState(false);
	const button = useRef<HTMLButtonElement>(null);
	const { field, kind, record } = props;
	const change = `Change ${field.label} of ${titleOf(kind, record)}`;
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};
	const openByValue = ({ target }: MouseEvent) => {
		const isOther = (target as Element).closest("a, button") !== null;
		const isSelecting = getSelection()?.isCollapsed === false;
		if (!isOther && !isSelecting) setOpen(true);
	};
	return (
		<div className={classes.cell}>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: the button beside it is for keyboards. */}
			{/* biome-ignore lint/a11y/useKeyWithClickEvents: the button beside it is for keyboards. */}
			<div className={classes.value} onClick={openByValue}>
				{children}
			</div>
			<button
				ref={button}
				type="button"
				className={`mantine-focus-auto ${classes.button}`}
				data-open={isOpen || undefined}
				aria-haspopup={field.type === "choice" ? "menu" : "dialog"}
				aria-expanded={isOpen}
				aria-label={change}
				onClick={() => setOpen(!isOpen)}
			>
				<IconPencil size={14} aria-hidden />
			</button>
			{/* A list would take much longer to appear if each cell had a closed popover. */}
			{isOpen &&
				(field.type === "choice" ? (
					<CellChoices {...props} label={change} onClose={close} />
				) : (
					<Editor {...props} label={change} onClose={close} />
				))}
		</div>
	);
}

function Editor({
	label,
	onClose,
	...cell
}: Cell & { label: string; onClose: () => void }) {
	const { field, record } = cell;
	const stored = toFormValue(field, record[field.name]);
	const [value, setValue] = useState<FormValue>(stored);
	const saving = useCellSaving(cell, onClose);
	const submit = (event: FormEvent) => {
		event.preventDefault();
		saving.mutate(value);
	};
	return (
		<Popover
			opened
			// The button has these roles. The anchor only gives the position.
			withRoles={false}
			onDismiss={onClose}
			// A click elsewhere must not throw away a value that somebody typed.
			closeOnClickOutside={value === stored}
			trapFocus
			position="bottom-start"
		>
			<Popover.Target>
				<span className={classes.anchor} />
			</Popover.Target>
			<Popover.Dropdown role="dialog" aria-label={label}>
				<Stack component="form" gap="sm" w={260} onSubmit={submit}>
					{field.reference ? (
						<ReferencePicker
							label={field.label}
							organizationId={record.organization_id}
							kind={field.reference}
							placeholder="Choose or type to search"
							startsOpen
							clearable={field.given !== "required"}
							// A click on an option would otherwise be a click outside of the popover.
							comboboxProps={{ withinPortal: false }}
							value={typeof value === "string" && value !== "" ? value : null}
							onChange={(chosen) => {
								setValue(chosen);
								saving.mutate(chosen);
							}}
						/>
					) : (
						<FieldInput
							field={field}
							organizationId={record.organization_id}
							kind={cell.kind}
							value={value}
							onChange={setValue}
						/>
					)}
					<NotSaved error={saving.error} />
					<Group justify="flex-end" gap="xs">
						<Button variant="default" size="compact-md" onClick={onClose}>
							Cancel
						</Button>
						{(!field.reference || saving.isError) && (
							<Button
								type="submit"
								size="compact-md"
								loading={saving.isPending}
							>
								Save
							</Button>
						)}
					</Group>
				</Stack>
			</Popover.Dropdown>
		</Popover>
	);
}
