import { Group, Text } from "@mantine/core";
import { useEffect, useState } from "react";

/** Most answers come earlier, and a number that appears and goes would only distract. */
const SHOWN_AFTER_S = 3;

/**
 * Says what the server does with the lines of the file, and after some seconds for how long. Empty
 * if `doing` is undefined. It stays on the page, because a screen reader reads out what changes in a
 * status, and often not a status that is new.
 */
export function ImportProgress({
	doing,
	lines,
}: {
	doing: "Checking" | "Importing" | undefined;
	lines: number;
}) {
	const seconds = useSeconds(doing !== undefined);
	const counted = lines === 1 ? "1 line" : `${lines.toLocaleString()} lines`;
	return (
		<Group gap="xs">
			<Text role="status" size="sm">
				{doing && `${doing} ${counted} …`}
			</Text>
			{/* Outside of the status, or a screen reader would read it out every second. */}
			{seconds >= SHOWN_AFTER_S && (
				<Text size="sm" c="dimmed">
					{seconds} s so far
				</Text>
			)}
		</Group>
	);
}

/** Returns the whole seconds since `isRunning` became true. */
function useSeconds(isRunning: boolean): number {
	const [seconds, setSeconds] = useState(0);
	useEffect(() => {
		if (!isRunning) return;
		const began = performance.now();
		const timer = setInterval(
			() => setSeconds(Math.floor((performance.now() - began) / 1000)),
			1000,
		);
		return () => {
			clearInterval(timer);
			setSeconds(0);
		};
	}, [isRunning]);
	return seconds;
}
