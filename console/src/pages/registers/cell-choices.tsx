import { Menu } from "@mantine/core";
import { shownValue } from "../../parts/records/undecided.ts";
import classes from "./editable-cell.module.css";
import { type Cell, NotSaved, useCellSaving } from "./save-cell.tsx";

/** The value that stands for an empty field. No choice has it. */
const EMPTY = "";

/**
 * The button beside the value has the roles, and gets the focus back. The anchor only gives the
 * position. The types of a menu do not name this property of its popover.
 */
const WITHOUT_ROLES: object = { withRoles: false };

/** Offers the choices of a cell in a menu. The one that the reader chooses is saved at once. */
export function CellChoices({
	label,
	onClose,
	...cell
}: Cell & { label: string; onClose: () => void }) {
	const { field, record } = cell;
	const { choices = [] } = field;
	const stored = String(shownValue(record, field.name) ?? EMPTY);
	const offered = [
		...(field.isNullable ? [{ value: EMPTY, label: "None" }] : []),
		...choices,
	];
	const saving = useCellSaving(cell, onClose);
	return (
		<Menu
			opened
			onClose={onClose}
			{...WITHOUT_ROLES}
			returnFocus={false}
			closeOnItemClick={false}
			position="bottom-start"
		>
			<Menu.Target>
				<span className={classes.anchor} />
			</Menu.Target>
			<Menu.Dropdown aria-label={label} aria-busy={saving.isPending}>
				<Menu.RadioGroup
					value={saving.isPending ? String(saving.variables ?? EMPTY) : stored}
					onChange={(chosen) => {
						if (!saving.isPending) saving.mutate(chosen || null);
					}}
				>
					{offered.map((choice) => (
						<Menu.RadioItem
							key={choice.value}
							value={choice.value}
							closeMenuOnClick={choice.value === stored}
						>
							{choice.label}
						</Menu.RadioItem>
					))}
				</Menu.RadioGroup>
				<NotSaved error={saving.error} />
			</Menu.Dropdown>
		</Menu>
	);
}
