import {
	ActionIcon,
	Button,
	Popover,
	Stack,
	Text,
	TextInput,
	Tooltip,
} from "@mantine/core";
import { IconCalendarTime } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useChangeSearch } from "../change-search.ts";
import { useShownOrganization } from "../organization.ts";
import { dayAfter, todayHere } from "../parts/days.ts";
import { firstDayOf, pastDay, usePast } from "../past.ts";
import { firstDaySentence } from "./before-first-day.tsx";

/** Opens the registers and devices as they were on a past day. */
export function AsOfButton() {
	const { day } = usePast();
	const { org } = useParams({ strict: false });
	const changeSearch = useChangeSearch();
	const [isOpen, setOpen] = useState(false);
	const [typed, setTyped] = useState<string>();
	const organization = useShownOrganization();
	if (!org || !organization) return null;
	const first = firstDayOf(organization);
	const wanted = typed ?? day ?? "";
	const past = pastDay(wanted);
	const isTooEarly = past !== undefined && past < first;
	const chosen = isTooEarly ? undefined : past;
	const problem = isTooEarly
		? firstDaySentence(first)
		: wanted && !past
			? "Choose a day before today."
			: undefined;
	const show = () =>
		changeSearch(
			// The cursor of a page belongs to the day that was shown. A report has its own day.
			(before) => ({
				...before,
				cursor: undefined,
				day: undefined,
				as_of: chosen,
			}),
			{ resetScroll: true },
		);
	return (
		<Popover
			opened={isOpen}
			onChange={setOpen}
			position="bottom-end"
			width={260}
			trapFocus
			returnFocus
		>
			<Popover.Target>
				<Tooltip label="As of a date" disabled={isOpen}>
					<ActionIcon
						variant={day ? "light" : "subtle"}
						color={day ? "yellow" : "gray"}
						c="var(--mantine-color-text)"
						size="lg"
						aria-label="As of a date"
						aria-expanded={isOpen}
						onClick={() => {
							setTyped(undefined);
							setOpen(!isOpen);
						}}
					>
						<IconCalendarTime size={18} aria-hidden />
					</ActionIcon>
				</Tooltip>
			</Popover.Target>
			<Popover.Dropdown aria-label="As of a date">
				<form
					onSubmit={(event) => {
						event.preventDefault();
						if (!chosen) return;
						setOpen(false);
						void show();
					}}
				>
					<Stack gap="sm">
						<TextInput
							type="date"
							label="Show the end of this day"
							min={first}
							max={dayAfter(todayHere(), -1)}
							value={wanted}
							error={problem}
							onChange={(event) => setTyped(event.currentTarget.value)}
							data-autofocus
						/>
						<Text size="xs" c="dimmed">
							Home, devices, registers, the coverage of frameworks and most
							reports, read-only.
						</Text>
						<Button type="submit" disabled={!chosen}>
							Show the past
						</Button>
					</Stack>
				</form>
			</Popover.Dropdown>
		</Popover>
	);
}
