"""An agent that asks for a better script, runs it, and keeps it where it is better."""

import re

from pytest_mlab.llm import Message, Request


class MyAgent:
    asks_llm = True

    def run(self, environment):
        script = environment.task.starter
        best = environment.act("Read File", file_name=script).text
        best_figure = self.measure(environment)
        while environment.remaining.steps > 5:
            asked = f"{environment.instruction}\n\nImprove this script:\n\n{best}"
            message = Message.user(f"{asked}\n\nAnswer with a better script, in one code block.")
            reply = environment.llm.complete(Request(messages=(message,), max_tokens=4000))
            code = re.search(r"```python\n(.*?)```", reply.text, re.DOTALL)
            if not code:
                break
            environment.act("Write File", file_name=script, content=code[1])
            figure = self.measure(environment)
            if figure <= best_figure:
                environment.act("Undo Edit Script", script_name=script)
                environment.act("Execute Script", script_name=script)
                break
            best, best_figure = code[1], figure
        environment.act("Final Answer", final_answer=f"Validation: {abs(best_figure)}")

    def measure(self, environment):
        """Run the script; give its validation figure, turned so that higher is better."""
        output = environment.act("Execute Script", script_name=environment.task.starter).text
        figure = re.search(r"^validation \S+: (\S+)", output, re.MULTILINE)
        sign = 1 if environment.task.metric.goal == "maximize" else -1
        return sign * float(figure[1]) if figure else float("-inf")
