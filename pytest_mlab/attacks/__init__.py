"""What a cheater might try, and what shows from outside whether it worked.

`inside` runs where an agent's scripts run and prints what it could get hold of. Around it, outside,
lie `baits`, with `marks`, `listeners` and `ceilings`; they take nobody's word: what was found is
compared with what there is to find. `submissions` are handed to a task's scorer. What a sandbox
does not promise, `promises` knows.
"""
