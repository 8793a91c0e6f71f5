import { Button, Checkbox, MultiSelect, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { describeKind } from "../kinds.ts";
import { registerKinds } from "../register-kinds.ts";
import { dayAfter, formatDay, todayHere } from "./days.ts";
import { FIELD_LABELS } from "./field-labels.ts";
import type { Member, Role } from "./roles.tsx";

/** The values of a form that asks for a role and for what narrows it. */
export type LimitValues = {
	role: Role;
	/** YYYY-MM-DD, or empty for no end. */
	ends_on: string;
	writable_registers: string[];
	reads_audit_log: boolean;
};

/** The registers by the names of their toolsets, such as "data". */
const REGISTERS = registerKinds.map(({ kind, label }) => ({
	value: describeKind(kind).key.many,
	label,
}));

const labelOf = (register: string) =>
	REGISTERS.find(({ value }) => value === register)?.label ?? register;

/** Returns the values with which the form of a membership begins. */
export function limitValues(
	given: Pick<
		Member,
		"role" | "ends_on" | "writable_registers" | "reads_audit_log"
	>,
): LimitValues {
	return {
		role: given.role,
		ends_on: given.ends_on ?? "",
		writable_registers: given.writable_registers ?? [],
		reads_audit_log: given.reads_audit_log,
	};
}

/** Returns the input of the call. Limits that the role does not have are left out. */
export function limitInput({ role, ...limits }: LimitValues) {
	const { ends_on, writable_registers, reads_audit_log } = limits;
	const isAdmin = role === "admin";
	return {
		role,
		ends_on: isAdmin || !ends_on ? null : ends_on,
		writable_registers:
			role === "member" && writable_registers.length > 0
				? writable_registers
				: null,
		reads_audit_log: !isAdmin && reads_audit_log,
	};
}

/** Days until the last day that the form fills in for an auditor. */
const AUDITOR_DAYS = 90;

/** Returns the role and the limits of an auditor. */
const auditorLimits = (): LimitValues => ({
	role: "viewer",
	ends_on: dayAfter(todayHere(), AUDITOR_DAYS),
	writable_registers: [],
	reads_audit_log: true,
});

/** Asks what narrows a membership. An administrator's has no limits. */
export function LimitFields<Values extends LimitValues>({
	form,
}: {
	form: UseFormReturnType<Values>;
}) {
	const { role } = form.values;
	if (role === "admin") return null;
	return (
		<>
			<Button
				variant="default"
				size="xs"
				w="fit-content"
				onClick={() => form.setValues(auditorLimits() as Partial<Values>)}
			>
				Fill in for an auditor
			</Button>
			<TextInput
				type="date"
				label={FIELD_LABELS.member.ends_on}
				description="After this day, the membership no longer counts. Empty: no end."
				min={todayHere()}
				w={220}
				{...form.getInputProps("ends_on")}
			/>
			{role === "member" && (
				<MultiSelect
					label={FIELD_LABELS.member.writable_registers}
					placeholder={
						form.values.writable_registers.length === 0
							? "All registers"
							: undefined
					}
					data={REGISTERS}
					searchable
					clearable
					{...form.getInputProps("writable_registers")}
				/>
			)}
			<Checkbox
				label={FIELD_LABELS.member.reads_audit_log}
				description="Shows who changed what, and when. Without it, only administrators see this."
				{...form.getInputProps("reads_audit_log", { type: "checkbox" })}
			/>
		</>
	);
}

/** Returns what narrows a membership or an invitation, in words. Empty if nothing does. */
export function limitsInWords(
	member: Pick<Member, "ends_on" | "writable_registers" | "reads_audit_log"> & {
		is_ended?: boolean;
	},
): string {
	const parts = [
		member.ends_on &&
			`${member.is_ended ? "ended on" : "until"} ${formatDay(member.ends_on)}`,
		member.writable_registers &&
			`writes only ${member.writable_registers.map(labelOf).join(", ")}`,
		member.reads_audit_log && "reads the audit log",
	].filter((part) => typeof part === "string" && part !== "");
	const text = parts.join("; ");
	return text.charAt(0).toUpperCase() + text.slice(1);
}
