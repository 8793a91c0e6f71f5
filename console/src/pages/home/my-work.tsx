import { Group, Stack, Text } from "@mantine/core";
import { describeKind, fieldOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { CalendarDate } from "../../parts/time.tsx";
import { findRegisterKind } from "../../register-kinds.ts";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

/** The dates by which work is due. A review or an expiry is named. */
const DUE = ["due_date", "deadline", "target_date"];

/** Lists the reader's own work that is overdue or due within a week. */
export function MyWork({ overview }: { overview: Overview }) {
	const { organizationId } = useOrganization();
	const { mine, today } = overview;
	return (
		<Section
			title="Mine"
			more={
				mine &&
				mine.devices > 0 && (
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={{ owner_id: mine.person_id }}
						size="sm"
					>
						{mine.devices === 1
							? "Your device"
							: `Your ${mine.devices.toLocaleString()} devices`}
					</TextLink>
				)
			}
		>
			{mine === null ? (
				<Text size="sm" c="dimmed">
					Nobody in the register People has your e-mail address, so nothing can
					be assigned to you.
				</Text>
			) : mine.records.length === 0 ? (
				<Text size="sm" c="dimmed">
					Nothing of yours is overdue or due this week.
				</Text>
			) : (
				<Stack gap="sm">
					<Group gap={6}>
						{mine.overdue > 0 && (
							<StatusBadge
								tone="bad"
								label={`${mine.overdue.toLocaleString()} overdue`}
							/>
						)}
						{mine.this_week > 0 && (
							<StatusBadge
								tone="warning"
								label={`${mine.this_week.toLocaleString()} this week`}
							/>
						)}
					</Group>
					<ul className={styles.rows}>
						{mine.records.map(({ kind, id, name, field, due }) => (
							<li key={`${id} ${field}`} className={styles.row}>
								<Group justify="space-between" gap="0 8px">
									<TextLink
										to="/o/$org/r/$kind/$id"
										params={{ org: organizationId, kind, id }}
										size="sm"
										style={{ overflowWrap: "anywhere" }}
									>
										{name ?? "Unnamed"}
									</TextLink>
									<Text
										size="xs"
										c={due < today ? "var(--mantine-color-error)" : "dimmed"}
										style={{ whiteSpace: "nowrap" }}
									>
										{due < today ? "Overdue, " : ""}
										<CalendarDate value={due} />
									</Text>
								</Group>
								<Text size="xs" c="dimmed">
									{findRegisterKind(kind)?.label}
									{!DUE.includes(field) &&
										`, ${labelOf(kind, field).toLowerCase()}`}
								</Text>
							</li>
						))}
					</ul>
				</Stack>
			)}
		</Section>
	);
}

/** Returns the label of a date, such as "Next review date". */
function labelOf(kind: string, field: string): string {
	const found = findRegisterKind(kind);
	return (found && fieldOf(describeKind(found.kind), field)?.label) ?? field;
}
