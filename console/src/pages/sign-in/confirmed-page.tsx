import { useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { tellConfirmed } from "../../proof.ts";
import { Card } from "./card.tsx";
import { Message } from "./message.tsx";
import { problemInWords } from "./provider.tsx";

/**
 * Opens in the tab in which the user has confirmed with the identity provider. The tab with the
 * action learns of it and goes on.
 */
export function Page() {
	const { problem, why } = useSearch({ from: "/confirmed" });
	useEffect(() => {
		if (problem === undefined) tellConfirmed();
	}, [problem]);
	return (
		<Card>
			{problem === undefined ? (
				<Message title="You have confirmed">
					Close this tab, and go on in the other one.
				</Message>
			) : (
				<Message title="You have not confirmed">
					{problemInWords(problem, why)} Then close this tab.
				</Message>
			)}
		</Card>
	);
}
