"""Search engines in containers of this machine: started, waited for, looked at and stopped."""
