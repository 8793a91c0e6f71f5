import { Group } from "@mantine/core";
import { describeKind, fieldOf, kinds, reminderFilter } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { daysBetween } from "../../parts/days.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { findRegisterKind } from "../../register-kinds.ts";
import { inDays, OVERDUE } from "../../relative-filters.ts";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

/** Lists the reviews, notices and expiries that are overdue or soon due. Shows nothing without any. */
export function Reminders({ overview }: { overview: Overview }) {
	const { organizationId } = useOrganization();
	const { reminders, today, soon_until } = overview;
	if (reminders.length === 0) return null;
	return (
		<Section title="Reviews and expiries">
			<ul className={styles.rows}>
				{reminders.map(({ register, field, overdue, due_soon }) => {
					const found = Object.values(kinds).find(
						({ key }) => key.many === register,
					);
					if (!found) return null;
					const { kind } = found;
					const link = (search: Record<string, string>) => ({
						to: "/o/$org/r/$kind" as const,
						params: { org: organizationId, kind },
						search: { ...search, ...reminderFilter(found, field) },
						underline: "never" as const,
						c: "inherit",
					});
					return (
						<li key={`${register} ${field}`} className={styles.row}>
							<Group justify="space-between" gap="xs">
								<PlainText size="sm">
									{findRegisterKind(kind)?.label}:{" "}
									{fieldOf(describeKind(kind), field)?.label.toLowerCase()}
								</PlainText>
								<Group gap={6}>
									{overdue > 0 && (
										<TextLink {...link({ [field]: OVERDUE })}>
											<StatusBadge
												tone="bad"
												label={`${overdue.toLocaleString()} overdue`}
											/>
										</TextLink>
									)}
									{due_soon > 0 && (
										<TextLink
											{...link({
												[field]: inDays(daysBetween(today, soon_until)),
											})}
										>
											<StatusBadge
												tone="warning"
												label={`${due_soon.toLocaleString()} soon`}
											/>
										</TextLink>
									)}
								</Group>
							</Group>
						</li>
					);
				})}
			</ul>
		</Section>
	);
}
