import { Button, Group, Paper, Text } from "@mantine/core";
import { IconCalendarTime } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { formatDay } from "../parts/days.ts";
import { NOW, usePast } from "../past.ts";

/**
 * Says above a page which past day it shows, or that the address has no such day, and leads back to
 * the present.
 */
export function PastBanner() {
	const { day, wrong, isShown } = usePast();
	const { report } = useParams({ strict: false });
	if (!day && wrong === undefined) return null;
	return (
		<Paper
			component="section"
			aria-label="Date shown"
			// A paper has the dates of its page, so only a past page needs the line.
			className={isShown ? "" : "not-printed"}
			bg="var(--mantine-color-yellow-light)"
			c="var(--mantine-color-text)"
			px="md"
			py="xs"
			mb="md"
		>
			<Group justify="space-between" gap="xs">
				<Group gap="xs" wrap="nowrap" flex="1 1 260px">
					<IconCalendarTime size={18} aria-hidden style={{ flexShrink: 0 }} />
					<Text size="sm">
						{!day ? (
							<>
								The address asks for “{wrong}”, which is not a past day, so it
								is ignored.
							</>
						) : isShown ? (
							<>
								As of the end of <b>{formatDay(day)}</b>. Nothing can be changed
								in the past.
							</>
						) : (
							<>
								{report
									? "The report says which day it shows."
									: "This page shows the present, or a day that you choose in it."}{" "}
								Home, devices, registers and most reports show{" "}
								<b>{formatDay(day)}</b>.
							</>
						)}
					</Text>
				</Group>
				<Button
					component={Link}
					to="."
					search={
						((before: object) => ({
							...before,
							// The cursor of a page belongs to the day that was shown. A report has its own day.
							cursor: undefined,
							day: undefined,
							as_of: NOW,
						})) as never
					}
					size="xs"
					variant="default"
				>
					Back to now
				</Button>
			</Group>
		</Paper>
	);
}
