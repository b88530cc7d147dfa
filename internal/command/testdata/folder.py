import os, runpy, sys # plays the program in a folder of programs
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(root, "sdk/python"))
runpy.run_path(os.path.join(root, "programs", sys.argv[1], "client.py"))
