import { Group, Stack } from "@mantine/core";
import { describeKind, fieldOf, reminderFilter } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { ME } from "../../parts/records/reference-picker.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { CalendarDate } from "../../parts/time.tsx";
import { findRegisterKind } from "../../register-kinds.ts";
import { inDays, OVERDUE } from "../../relative-filters.ts";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";
import { OwnFailingChecks } from "./own-failing-checks.tsx";

/** The days that "this week" means, from today on, as the server counts them. */
const WEEK_DAYS = 7;
/** The dates by which work is due. A review or an expiry is named. */
const DUE = ["due_date", "deadline", "target_date"];

/**
 * Returns true if the reader has work or devices, or may write. A viewer who has neither needs no
 * empty box.
 */
export function mayHaveWork(
	{ mine }: Pick<Overview, "mine">,
	mayWrite: boolean,
): boolean {
	return (
		mayWrite ||
		(mine !== null &&
			(mine.records.length > 0 || mine.open_tasks > 0 || mine.devices > 0))
	);
}

/** Returns true if the reader has overdue or urgent work, or a device that fails a check. */
export function hasWork({ mine }: Pick<Overview, "mine">): boolean {
	return mine !== null && mine.records.length + mine.failing_checks.length > 0;
}

/**
 * Lists the reader's own work that is overdue or due within a week, and then the checks that the
 * reader's devices fail.
 */
export function MyWork({ overview }: { overview: Overview }) {
	const { organizationId, mayWriteKind } = useOrganization();
	const { mine, today } = overview;
	return (
		<Section
			title="Mine"
			none={
				mine === null ? (
					<>
						Nobody in the register People has your e-mail address, so nothing
						can be assigned to you.{" "}
						{mayWriteKind("people") && (
							<TextLink
								to="/o/$org/r/$kind/new"
								params={{ org: organizationId, kind: "people" }}
								inherit
								underline="always"
							>
								Add yourself
							</TextLink>
						)}
					</>
				) : hasWork(overview) ? undefined : (
					"Nothing of yours is overdue or due this week."
				)
			}
			more={mine && <ToOwnLists mine={mine} />}
		>
			{mine && (
				<Stack gap="sm">
					{mine.counts.length > 0 && <Counts counts={mine.counts} />}
					{mine.records.length > 0 && (
						<ul className={styles.rows}>
							{mine.records.map(({ kind, id, name, field, due }) => (
								<li key={`${id} ${field}`} className={styles.row}>
									<TextLink
										to="/o/$org/r/$kind/$id"
										params={{ org: organizationId, kind, id }}
										size="sm"
										style={{ overflowWrap: "anywhere" }}
									>
										{name ?? "Unnamed"}
									</TextLink>
									<Group justify="space-between" gap="0 8px">
										<PlainText size="xs" c="dimmed">
											{findRegisterKind(kind)?.label}
											{!DUE.includes(field) &&
												`, ${labelOf(kind, field).toLowerCase()}`}
										</PlainText>
										<PlainText
											size="xs"
											c={due < today ? "var(--mantine-color-error)" : "dimmed"}
											style={{ whiteSpace: "nowrap" }}
										>
											{due < today ? "Overdue, " : ""}
											<CalendarDate value={due} />
										</PlainText>
									</Group>
								</li>
							))}
						</ul>
					)}
					{mine.failing_checks.length > 0 && (
						<OwnFailingChecks failing={mine.failing_checks} />
					)}
				</Stack>
			)}
		</Section>
	);
}

/** Links to all open tasks of the reader, also those that are due later, and to their devices. */
function ToOwnLists({ mine }: { mine: NonNullable<Overview["mine"]> }) {
	const { organizationId: org } = useOrganization();
	return (
		<Group gap="0 16px">
			{mine.open_tasks > 0 && (
				<TextLink
					to="/o/$org/r/$kind"
					params={{ org, kind: "task" }}
					search={{ assigned_to: ME, is_open: true }}
					size="sm"
				>
					{mine.open_tasks === 1
						? "Your open task"
						: `Your ${mine.open_tasks.toLocaleString()} open tasks`}
				</TextLink>
			)}
			{mine.devices > 0 && (
				<TextLink
					to="/o/$org/devices"
					params={{ org }}
					search={{ owner: ME, status: "ACTIVE" }}
					size="sm"
				>
					{mine.devices === 1
						? "Your device"
						: `Your ${mine.devices.toLocaleString()} devices`}
				</TextLink>
			)}
		</Group>
	);
}

/** Counts the work of each kind. Every number links to the records that it counts. */
function Counts({
	counts,
}: {
	counts: NonNullable<Overview["mine"]>["counts"];
}) {
	const { organizationId } = useOrganization();
	return (
		<Group component="ul" gap="6px 16px" p={0} m={0} className={styles.counts}>
			{counts.map(({ kind, field, person, overdue, this_week }) => {
				const isWork = DUE.includes(field);
				const found = findRegisterKind(kind);
				const link = (when: string) => ({
					to: "/o/$org/r/$kind" as const,
					params: { org: organizationId, kind },
					search: {
						[person.replace(/_id$/, "")]: ME,
						...(isWork ? { is_open: true, due: when } : { [field]: when }),
						...(found && reminderFilter(describeKind(found.kind), field)),
					},
					underline: "never" as const,
					c: "inherit",
				});
				const label = [
					found?.label,
					...(isWork ? [] : [labelOf(kind, field).toLowerCase()]),
				].join(", ");
				return (
					<Group component="li" key={`${kind} ${field}`} gap={6}>
						<PlainText size="sm">{label}</PlainText>
						{overdue > 0 && (
							<TextLink {...link(OVERDUE)}>
								<StatusBadge
									tone="bad"
									label={`${overdue.toLocaleString()} overdue`}
								/>
							</TextLink>
						)}
						{this_week > 0 && (
							<TextLink {...link(inDays(WEEK_DAYS))}>
								<StatusBadge
									tone="warning"
									label={`${this_week.toLocaleString()} this week`}
								/>
							</TextLink>
						)}
					</Group>
				);
			})}
		</Group>
	);
}

/** Returns the label of a date, such as "Next review date". */
function labelOf(kind: string, field: string): string {
	const found = findRegisterKind(kind);
	return (found && fieldOf(describeKind(found.kind), field)?.label) ?? field;
}
