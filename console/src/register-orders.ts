/** An order that the register's list tool has. */
export interface ListOrder<Name extends string = string> {
	field: Name;
	direction: "asc" | "desc";
	/** The order in words, if no column has it. */
	label?: string;
}

export const OPEN_FIRST: ListOrder<"open_first"> = {
	field: "open_first",
	direction: "asc",
	label: "Open first, by due date",
};

export const NEWEST: ListOrder<"created_at"> = {
	field: "created_at",
	direction: "desc",
	label: "Latest added first",
};

export const LAST_CHANGED: ListOrder = {
	field: "updated_at",
	direction: "desc",
	label: "Last changed first",
};
